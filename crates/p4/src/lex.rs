//! Tokeniser: divides one file's text into words, numbers, strings and punctuation.
//!
//! Uses [`crate::source`] for positions. Serves the preprocessor, so a keyword is an ordinary word
//! here and line breaks matter; `parse` interprets the tokens.

use crate::{diagnostic::Diagnostic, source::Span};
use std::{collections::HashSet, sync::Arc};

/// A token, with its text after macro expansion.
#[derive(Clone, Debug)]
pub struct Token {
    /// Kind.
    pub kind: Kind,
    /// True if it is the first on its line.
    pub starts_line: bool,
    /// True if white space or a comment precedes it.
    pub spaced: bool,
    /// True for a macro's name that must not be expanded again.
    pub painted: bool,
    /// Source span.
    pub span: Span,
    /// The text of a word, number, string (with its quotes) or unknown character; empty for others.
    pub text: Arc<str>,
}

impl Token {
    /// The token's source text.
    pub fn spelling(&self) -> &str {
        match self.kind {
            Kind::Word | Kind::Number | Kind::String | Kind::Unknown | Kind::Name(_) => &self.text,
            kind => kind.sign(),
        }
    }
}

macro_rules! vocabulary {
    (signs { $($sign:ident = $sign_text:literal,)* } keywords { $($word:ident = $word_text:literal,)* }) => {
        /// Kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // Signs and keywords are named for themselves.
        pub enum Kind {
            /// The end of the text.
            End,
            /// An identifier or keyword, before keywords are recognised.
            Word,
            /// An identifier, after keywords are recognised; the keyword if it may serve as a name.
            Name(Option<Keyword>),
            /// A keyword that is never a name.
            Key(Keyword),
            /// An integer literal, perhaps malformed.
            Number,
            /// A string literal.
            String,
            /// A character that cannot begin a token.
            Unknown,
            $($sign,)*
        }

        /// The keywords of P4-16.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Keyword { $($word,)* }

        impl Kind {
            /// The spelling of a punctuation mark or keyword; empty for other kinds.
            pub const fn sign(self) -> &'static str {
                match self {
                    $(Kind::$sign => $sign_text,)*
                    Kind::Key(word) => word.text(),
                    _ => "",
                }
            }
        }

        impl Keyword {
            /// All keywords.
            pub const ALL: &'static [Keyword] = &[$(Keyword::$word,)*];

            /// The spelling.
            pub const fn text(self) -> &'static str {
                match self { $(Keyword::$word => $word_text,)* }
            }

            /// The keyword with this spelling.
            pub fn from_text(text: &str) -> Option<Keyword> {
                match text { $($word_text => Some(Keyword::$word),)* _ => None }
            }
        }
    };
}

vocabulary! {
    signs {
        Mask = "&&&", AndAnd = "&&", AndEq = "&=", And = "&",
        Dots = "...", Range = "..", Dot = ".",
        SatAddEq = "|+|=", SatAdd = "|+|", SatSubEq = "|-|=", SatSub = "|-|",
        OrOr = "||", OrEq = "|=", Or = "|",
        PlusPlus = "++", PlusEq = "+=", Plus = "+", MinusEq = "-=", Minus = "-",
        StarEq = "*=", Star = "*", SlashEq = "/=", Slash = "/", PercentEq = "%=", Percent = "%",
        ShlEq = "<<=", Shl = "<<", Le = "<=", Lt = "<", Ge = ">=", Gt = ">",
        NotEq = "!=", Not = "!", Tilde = "~", CaretEq = "^=", Caret = "^",
        EqEq = "==", Eq = "=", Question = "?", Colon = ":", Comma = ",", Semicolon = ";",
        LParen = "(", RParen = ")", LBracket = "[", RBracket = "]",
        InvalidHeader = "{#}", LBrace = "{", RBrace = "}",
        At = "@", HashHash = "##", Hash = "#", Underscore = "_",
    }
    keywords {
        Abstract = "abstract", Action = "action", Actions = "actions", Apply = "apply",
        Bit = "bit", Bool = "bool", Break = "break", Const = "const", Continue = "continue",
        Control = "control", Default = "default", Else = "else", Entries = "entries",
        Enum = "enum", Error = "error", Exit = "exit", Extern = "extern", False = "false",
        For = "for", Header = "header", HeaderUnion = "header_union", If = "if", In = "in",
        InOut = "inout", Int = "int", Key = "key", List = "list", MatchKind = "match_kind",
        Out = "out", Package = "package", Parser = "parser", Priority = "priority",
        Return = "return", Select = "select", State = "state", String = "string",
        Struct = "struct", Switch = "switch", Table = "table", This = "this",
        Transition = "transition", True = "true", Tuple = "tuple", Type = "type",
        Typedef = "typedef", ValueSet = "value_set", VarBit = "varbit", Void = "void",
    }
}

impl Keyword {
    /// True for the keywords that the grammar also allows as names.
    pub const fn may_be_name(self) -> bool {
        use Keyword::*;
        matches!(self, Apply | Key | Actions | State | Entries | Type | Priority | List)
    }
}

/// Turns a word into a name, a keyword or `_`; other tokens do not change.
pub fn classify(token: &mut Token) {
    if token.kind != Kind::Word {
        return;
    }
    token.kind = match Keyword::from_text(&token.text) {
        Some(word) if word.may_be_name() => Kind::Name(Some(word)),
        Some(word) => Kind::Key(word),
        None if &*token.text == "_" => Kind::Underscore,
        None => Kind::Name(None),
    };
}

/// Set of shared texts.
#[derive(Debug, Default)]
pub struct Interner(HashSet<Arc<str>>);

impl Interner {
    /// The shared copy of `text`.
    pub fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(found) = self.0.get(text) {
            return found.clone();
        }
        let fresh: Arc<str> = text.into();
        self.0.insert(fresh.clone());
        fresh
    }
}

/// Punctuation by its first byte, longest first.
///
/// `>>` is not a token: `bit<bit<8>>` ends two lists. The parser joins two adjacent `>` to a shift.
const SIGNS: &[Kind] = &[
    Kind::Mask,
    Kind::AndAnd,
    Kind::AndEq,
    Kind::And,
    Kind::Dots,
    Kind::Range,
    Kind::Dot,
    Kind::SatAddEq,
    Kind::SatAdd,
    Kind::SatSubEq,
    Kind::SatSub,
    Kind::OrOr,
    Kind::OrEq,
    Kind::Or,
    Kind::PlusPlus,
    Kind::PlusEq,
    Kind::Plus,
    Kind::MinusEq,
    Kind::Minus,
    Kind::StarEq,
    Kind::Star,
    Kind::SlashEq,
    Kind::Slash,
    Kind::PercentEq,
    Kind::Percent,
    Kind::ShlEq,
    Kind::Shl,
    Kind::Le,
    Kind::Lt,
    Kind::Ge,
    Kind::Gt,
    Kind::NotEq,
    Kind::Not,
    Kind::Tilde,
    Kind::CaretEq,
    Kind::Caret,
    Kind::EqEq,
    Kind::Eq,
    Kind::Question,
    Kind::Colon,
    Kind::Comma,
    Kind::Semicolon,
    Kind::LParen,
    Kind::RParen,
    Kind::LBracket,
    Kind::RBracket,
    Kind::InvalidHeader,
    Kind::LBrace,
    Kind::RBrace,
    Kind::At,
    Kind::HashHash,
    Kind::Hash,
];

/// Length of a line splice, if `text` begins with one: a backslash and the line break behind it.
/// White space between them is skipped, as in C compilers.
fn splice(text: &[u8]) -> Option<usize> {
    let behind = text.strip_prefix(b"\\")?;
    let spaces = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    let length = spaces.count();
    (behind.get(length) == Some(&b'\n')).then_some(length + 2)
}

/// The text without its line splices.
fn without_splices(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let length = splice(&rest.as_bytes()[at..]);
        joined.push_str(&rest[..at + usize::from(length.is_none())]);
        rest = &rest[at + length.unwrap_or(1)..];
    }
    joined.push_str(rest);
    joined
}

/// Tokeniser of one text, on demand.
///
/// ```
/// use sojourn_p4::lex::{Interner, Lexer};
/// let (mut names, mut problems) = (Interner::default(), Vec::new());
/// let token = Lexer::new("8w255;".into(), 0).next(&mut names, &mut problems);
/// assert_eq!((token.spelling(), problems.len()), ("8w255", 0));
/// ```
#[derive(Clone, Debug)]
pub struct Lexer {
    text: Arc<str>,
    /// Offset of the text's first byte in the space of spans.
    base: u32,
    at: usize,
    /// No token yet on this line.
    fresh_line: bool,
}

impl Lexer {
    /// Creates a lexer for `text`, whose first byte has offset `base` in the space of spans.
    pub fn new(text: Arc<str>, base: u32) -> Lexer {
        Lexer { text, base, at: 0, fresh_line: true }
    }

    /// Start of the search for the next token, in the space of spans.
    pub fn position(&self) -> u32 {
        self.base + self.at as u32
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.at as u32)
    }

    /// The offset at or behind `at` that is no backslash before a line break.
    fn unspliced(&self, mut at: usize) -> usize {
        while let Some(length) = self.text.as_bytes().get(at..).and_then(splice) {
            at += length;
        }
        at
    }

    fn peek(&mut self) -> Option<u8> {
        self.at = self.unspliced(self.at);
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes `expected` if it comes next, across line splices.
    fn eat(&mut self, expected: &str) -> bool {
        let mut at = self.at;
        for byte in expected.bytes() {
            at = self.unspliced(at);
            if self.text.as_bytes().get(at) != Some(&byte) {
                return false;
            }
            at += 1;
        }
        self.at = at;
        true
    }

    fn eat_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
    }

    /// Skips white space and comments; true if there were any.
    fn skip_space(&mut self, in_line: bool, problems: &mut Vec<Diagnostic>) -> bool {
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' if in_line => break,
                b'\n' => {
                    self.fresh_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.eat("//") => self.eat_while(|byte| byte != b'\n'),
                b'/' if self.eat("/*") => self.skip_block_comment(problems),
                _ => break,
            }
        }
        self.at > start
    }

    /// Skips the rest of a comment whose `/*` is consumed.
    fn skip_block_comment(&mut self, problems: &mut Vec<Diagnostic>) {
        let start = self.at;
        match self.text[start..].find("*/") {
            Some(length) => self.at = start + length + 2,
            None => {
                self.at = self.text.len();
                let at = self.base + start as u32;
                let error =
                    Diagnostic::error("E0201", Span::new(at - 2, at), "unterminated comment");
                let error = error.with_label("this comment has no end");
                problems.push(error.with_help("close the comment with `*/`"));
            }
        }
    }

    /// The next token, across lines.
    pub fn next(&mut self, interner: &mut Interner, problems: &mut Vec<Diagnostic>) -> Token {
        let spaced = self.skip_space(false, problems);
        self.token(spaced, interner, problems)
    }

    /// The next token of this line; `None` at its end, which is not consumed.
    pub fn next_in_line(
        &mut self,
        interner: &mut Interner,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Token> {
        let spaced = self.skip_space(true, problems);
        match self.peek() {
            None | Some(b'\n') => None,
            Some(_) => Some(self.token(spaced, interner, problems)),
        }
    }

    fn token(
        &mut self,
        spaced: bool,
        interner: &mut Interner,
        problems: &mut Vec<Diagnostic>,
    ) -> Token {
        let starts_line = std::mem::take(&mut self.fresh_line);
        let first = self.peek();
        let start = self.at;
        let kind = match first {
            None => Kind::End,
            Some(b'"') => self.string(problems),
            Some(byte) if byte.is_ascii_digit() => {
                self.eat_while(is_word);
                Kind::Number
            }
            Some(byte) if is_word(byte) => {
                self.eat_while(is_word);
                Kind::Word
            }
            Some(byte) => self.sign(byte),
        };
        let span = self.span_from(start);
        let text = match kind {
            Kind::Word | Kind::Number | Kind::String | Kind::Unknown => self.clean(start, interner),
            _ => interner.intern(""),
        };
        Token { kind, starts_line, spaced, painted: false, span, text }
    }

    fn sign(&mut self, first: u8) -> Kind {
        let candidates = SIGNS.iter().filter(|kind| kind.sign().as_bytes()[0] == first);
        for kind in candidates {
            if self.eat(kind.sign()) {
                return *kind;
            }
        }
        self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        Kind::Unknown
    }

    /// A string: up to the first quote that no odd number of backslashes precedes.
    fn string(&mut self, problems: &mut Vec<Diagnostic>) -> Kind {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => break,
                Some(b'"') => {
                    self.at += 1;
                    return Kind::String;
                }
                Some(b'\\') => {
                    self.at += 1;
                    if self.peek().is_some() {
                        self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                    }
                }
                Some(_) => self.at += 1,
            }
        }
        let line = self.text[start..].find(['\n', '\r']).map_or(self.text.len(), |n| start + n);
        self.at = line;
        let error = Diagnostic::error("E0202", self.span_from(start), "unterminated string");
        let error = error.with_label("this string has no end");
        problems.push(error.with_help("close the string with `\"`"));
        Kind::String
    }

    /// The token's text from `start`, without line splices.
    fn clean(&self, start: usize, interner: &mut Interner) -> Arc<str> {
        let raw = &self.text[start..self.at];
        if raw.contains('\\') {
            interner.intern(&without_splices(raw))
        } else {
            interner.intern(raw)
        }
    }

    /// The raw rest of the line with its span, including comments; consumes the text, not the line
    /// break.
    pub fn rest_of_line(&mut self) -> (String, Span) {
        self.eat_while(|byte| matches!(byte, b' ' | b'\t'));
        let start = self.at;
        self.eat_while(|byte| byte != b'\n');
        let raw = without_splices(&self.text[start..self.at]);
        let trimmed = raw.trim_end();
        let end = self.base + (start + trimmed.len().min(self.at - start)) as u32;
        (trimmed.to_string(), Span::new(self.base + start as u32, end))
    }

    /// Consumes `<path>` or `"path"` as written in `#include`: no escapes, no comments. Returns the
    /// path, whether it was in angle brackets, and its span.
    pub fn header_name(&mut self) -> Option<(String, bool, Span)> {
        self.eat_while(|byte| matches!(byte, b' ' | b'\t'));
        let close = match self.peek()? {
            b'<' => '>',
            b'"' => '"',
            _ => return None,
        };
        let start = self.at;
        let line = self.text[start..].lines().next()?;
        let length = line[1..].find(close)?;
        self.at = start + length + 2;
        let path = line[1..=length].to_string();
        Some((path, close == '>', self.span_from(start)))
    }

    /// Skips lines up to the next that begins with `#`, without tokenising, and consumes the `#`.
    /// False at the end of the text.
    pub fn skip_to_directive(&mut self) -> bool {
        let mut ignored = Vec::new();
        loop {
            self.skip_space(false, &mut ignored);
            let fresh = std::mem::take(&mut self.fresh_line);
            match self.peek() {
                None => return false,
                Some(b'#') if fresh => {
                    self.at += 1;
                    return true;
                }
                Some(_) => self.skip_ignored_line(),
            }
        }
    }

    /// Skips to the end of the line; a comment may lead into another line.
    fn skip_ignored_line(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => return,
                b'/' if self.eat("//") => self.eat_while(|byte| byte != b'\n'),
                b'/' if self.eat("/*") => self.skip_block_comment(&mut Vec::new()),
                _ => self.at += 1,
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> Vec<String> {
        let (mut interner, mut problems) = (Interner::default(), Vec::new());
        let mut lexer = Lexer::new(text.into(), 1);
        let mut found = Vec::new();
        loop {
            let token = lexer.next(&mut interner, &mut problems);
            if token.kind == Kind::End {
                return found;
            }
            found.push(token.spelling().to_string());
        }
    }

    #[test]
    fn the_longest_sign_wins() {
        assert_eq!(spelled("a|+|=b|+|c||d|e"), ["a", "|+|=", "b", "|+|", "c", "||", "d", "|", "e"]);
        assert_eq!(spelled("x&&&y&&z&=w"), ["x", "&&&", "y", "&&", "z", "&=", "w"]);
        assert_eq!(spelled("0..5 ..."), ["0", "..", "5", "..."]);
        assert_eq!(spelled("{#} {# }"), ["{#}", "{", "#", "}"]);
    }

    #[test]
    fn a_right_shift_is_two_signs() {
        assert_eq!(spelled("a<<b>>c>>=d"), ["a", "<<", "b", ">", ">", "c", ">", ">=", "d"]);
    }

    #[test]
    fn a_backslash_at_the_line_end_joins_even_inside_a_token() {
        assert_eq!(spelled("pac\\\nket |\\\r\n+| 8w\\\n0xFF"), ["packet", "|+|", "8w0xFF"]);
    }

    #[test]
    fn spaces_behind_the_backslash_do_not_keep_lines_apart() {
        assert_eq!(spelled("pac\\  \t\nket |\\ \r\n+| a\\ b"), ["packet", "|+|", "a", "\\", "b"]);
        assert_eq!(spelled(r#""a\ b" c"#), [r#""a\ b""#, "c"]);
    }

    #[test]
    fn comments_separate_tokens() {
        assert_eq!(spelled("bi/**/t // x\nint /* * / \n */ y"), ["bi", "t", "int", "y"]);
    }

    #[test]
    fn a_string_ends_at_the_first_unescaped_quote() {
        assert_eq!(spelled(r#""a\"b" "c\\" d"#), [r#""a\"b""#, r#""c\\""#, "d"]);
        assert_eq!(spelled("\"two\nlines\" x"), ["\"two\nlines\"", "x"]);
    }

    #[test]
    fn an_unterminated_string_costs_its_line_only() {
        let (mut interner, mut problems) = (Interner::default(), Vec::new());
        let mut lexer = Lexer::new("\"abc\ndef".into(), 1);
        assert_eq!(lexer.next(&mut interner, &mut problems).kind, Kind::String);
        assert_eq!(lexer.next(&mut interner, &mut problems).spelling(), "def");
        assert_eq!(problems.len(), 1);
    }
}
