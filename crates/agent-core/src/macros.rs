//! The two shapes of small function that core has most of, in one line each.

/// Consuming setters: `name(argument: Type) => field = value;`, or `name() => field = value;`.
macro_rules! setters {
    ($type:ty { $( $(#[$meta:meta])* $name:ident($($arg:ident: $param:ty)?) => $($field:tt).+ = $value:expr; )* }) => {
        impl $type {
            $( $(#[$meta])* #[must_use] pub fn $name(mut self $(, $arg: $param)?) -> Self {
                self.$($field).+ = $value;
                self
            } )*
        }
    };
}
pub(crate) use setters;

/// Read accessors: `name -> Type = |this| value;`.
macro_rules! getters {
    ($type:ty { $( $(#[$meta:meta])* $name:ident -> $result:ty = |$this:ident| $value:expr; )* }) => {
        impl $type {
            $( $(#[$meta])* pub fn $name(&self) -> $result {
                let $this = self;
                $value
            } )*
        }
    };
}
pub(crate) use getters;

/// Types that have a constructor `text` are made of texts.
macro_rules! from_text {
    ($type:ty: $($text:ty),*) => {$(
        impl From<$text> for $type {
            fn from(text: $text) -> Self {
                Self::text(text)
            }
        }
    )*};
}
pub(crate) use from_text;
