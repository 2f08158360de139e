//! The small functions that core has most of, and enums shown as words, in one line each.

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

/// Read accessors: `name -> Type = |this| value;`. A type that borrows names its lifetime behind.
macro_rules! getters {
    ($type:ty $(, $life:lifetime)? {
        $( $(#[$meta:meta])* $name:ident -> $result:ty = |$this:ident| $value:expr; )*
    }) => {
        impl $(<$life>)? $type {
            $( $(#[$meta])* pub fn $name(&self) -> $result {
                let $this = self;
                $value
            } )*
        }
    };
}
pub(crate) use getters;

/// An enum whose variants are shown as words: `Variant = "word",`.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $type:ident { $( $(#[$about:meta])* $variant:ident = $word:literal, )* }) => {
        $(#[$meta])*
        pub enum $type { $( $(#[$about])* $variant, )* }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $( Self::$variant => $word, )* })
            }
        }
    };
}
pub(crate) use words;

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
