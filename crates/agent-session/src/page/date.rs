//! Dates of milliseconds since the Unix epoch, in UTC.

/// `2025-01-31 12:30 UTC`.
pub(crate) fn date(ms: u64) -> String {
    let (year, month, day) = civil(ms / 86_400_000);
    let minutes = ms / 60_000 % 1440;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// `12:30:05`.
pub(super) fn clock(ms: u64) -> String {
    let seconds = ms / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// How long something took.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1000, ms / 100 % 10),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// The milliseconds of a date like `2025-01-31T12:30:05.250Z`.
pub(crate) fn date_ms(text: &str) -> Option<u64> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, between: char| text.split(between).map(str::parse).collect::<Result<Vec<u64>, _>>().ok();
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day]: [u64; 3] = numbers(day, '-')?.try_into().ok()?;
    let [hours, minutes, seconds]: [u64; 3] = numbers(time, ':')?.try_into().ok()?;
    let in_range = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let valid = in_range && hours < 24 && minutes < 60 && seconds < 61 && fraction.bytes().all(|c| c.is_ascii_digit());
    let millis: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let seconds = (days(year, month, day) * 24 + hours) * 3600 + minutes * 60 + seconds;
    valid.then_some(seconds * 1000 + millis)
}

/// Year, month and day of a number of days since the epoch (the proleptic Gregorian calendar, counted in eras of 400
/// years that begin on the first of March).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let in_month = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, in_month)
}

/// The days since the epoch of a date behind it.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, in_era) = (year / 400, year % 400);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let in_year = (153 * month + 2) / 5 + day - 1;
    (era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year).saturating_sub(719_468)
}
