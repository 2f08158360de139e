//! Prices of a document: `cost`, in dollars for a million tokens.

use serde_json::value::RawValue;

use super::object::{Object, Place};
use crate::{PerMillion, PriceSheet, SheetBand, SheetRates};

/// At most so many bands are read.
const BANDS: usize = 16;

/// The price; `None` where it cannot be expressed, which is reported. Audio rates are left out: no call of ours
/// carries audio.
pub(super) fn read(cost: &Object<'_>, place: &mut Place<'_>) -> Option<PriceSheet> {
    read_sheet(cost, place).map_err(|reason| place.skip("cost", reason)).ok()
}

fn read_sheet(cost: &Object<'_>, place: &mut Place<'_>) -> Result<PriceSheet, &'static str> {
    let rates = rates(cost, place)?;
    let mut sheet = PriceSheet::new(rates);
    if cost.has("tiers") {
        let tiers: Vec<&RawValue> = cost.field("tiers", place).ok_or("bands of an unexpected shape")?;
        if tiers.len() > BANDS {
            return Err("too many bands");
        }
        for tier in tiers {
            sheet.bands.push(band(tier, place)?);
        }
        sheet.bands.sort_by_key(|band| band.tokens);
        if sheet.bands.windows(2).any(|pair| matches!(pair, [one, next] if one.tokens == next.tokens)) {
            return Err("two bands that begin at the same number");
        }
    } else if cost.has("context_over_200k") {
        let over = cost.object("context_over_200k", place).ok_or("bands of an unexpected shape")?;
        sheet.bands.push(SheetBand::above(200_000, self::rates(&over, place)?));
    }
    Ok(sheet)
}

fn band(tier: &RawValue, place: &mut Place<'_>) -> Result<SheetBand, &'static str> {
    let tier = Object::parse(tier).ok_or("a band of an unexpected shape")?;
    let bound = tier.object("tier", place).ok_or("a band without a bound")?;
    if bound.field::<&str>("type", place).is_some_and(|kind| kind != "context") {
        return Err("a band by something else than the length of the prompt");
    }
    let tokens = bound.field("size", place).ok_or("a band without a bound")?;
    Ok(SheetBand::above(tokens, rates(&tier, place)?))
}

fn rates(cost: &Object<'_>, place: &mut Place<'_>) -> Result<SheetRates, &'static str> {
    let mut rate = |field: &str| match cost.field::<PerMillion>(field, place) {
        None if cost.has(field) => Err("a rate that is no price"),
        rate => Ok(rate),
    };
    let (Some(input), Some(output)) = (rate("input")?, rate("output")?) else {
        return Err("a price without its input or output rate");
    };
    if rate("reasoning")?.is_some_and(|reasoning| reasoning != output) {
        return Err("a rate of its own for reasoning");
    }
    let mut rates = SheetRates::new(input, output);
    rates.cache_read = rate("cache_read")?;
    rates.cache_write = rate("cache_write")?;
    if cost.has("per_minute") {
        return Err("a price by the minute");
    }
    Ok(rates)
}
