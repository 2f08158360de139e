//! Days of the calendar, for sources and for prices that end.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A day (UTC), written `2026-12-01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a day; write it as `2026-12-01`")]
#[non_exhaustive]
pub struct DateError;

const DAY_MS: u64 = 86_400_000;

impl Date {
    /// A day of the years 1970 to 9999.
    ///
    /// # Errors
    /// [`DateError`] where the calendar has no such day.
    pub fn new(year: u16, month: u8, day: u8) -> Result<Self, DateError> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return Err(DateError),
        };
        let fits = (1970..=9999).contains(&year) && (1..=days).contains(&day);
        if fits { Ok(Self { year, month, day }) } else { Err(DateError) }
    }

    /// When the day begins, in milliseconds since 1970 (UTC).
    pub fn starts_ms(self) -> u64 {
        self.days().saturating_mul(DAY_MS)
    }

    /// When the day is over, in milliseconds since 1970 (UTC).
    pub fn ends_ms(self) -> u64 {
        self.starts_ms().saturating_add(DAY_MS)
    }

    /// Days since 1970-01-01, by the usual count in which a year begins in March.
    fn days(self) -> u64 {
        let (month, day) = (u64::from(self.month), u64::from(self.day));
        let year = u64::from(self.year) - u64::from(month <= 2);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        (year * 365 + year / 4 - year / 100 + year / 400 + of_year).saturating_sub(719_468)
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let digits = text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        let mut parts = text.split('-');
        let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(DateError);
        };
        if text.len() != 10 || !digits {
            return Err(DateError);
        }
        let year = year.parse().map_err(|_| DateError)?;
        Self::new(year, month.parse().map_err(|_| DateError)?, day.parse().map_err(|_| DateError)?)
    }
}

impl TryFrom<String> for Date {
    type Error = DateError;

    fn try_from(text: String) -> Result<Self, DateError> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
