//! Control declarations and tables.

use super::{Parsed, Parser, Reported, names::Meaning, recovery::described};
use crate::{
    ast::{
        ActionRef, Annotation, ControlDeclaration, Declaration, DeclarationKind, Entry, KeyElement,
        Name, TableProperty,
    },
    diagnostic::{Diagnostic, near_name},
    lex::{Keyword, Kind},
    source::Span,
};

/// Keywords that may begin a part of a control.
const PARTS: &[Keyword] = &[Keyword::Action, Keyword::Table, Keyword::Const, Keyword::Apply];

/// Properties that every table may have.
const PROPERTIES: &[&str] = &["key", "actions", "entries", "default_action", "size"];

impl Parser {
    /// `controlDeclaration` or `controlTypeDeclaration ;`
    pub(super) fn control_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.expect_key(Keyword::Control)?;
        let name = self.name("the name of a control")?;
        self.names.declare(&name.text, Meaning::Type);
        self.in_scope(|p| {
            let type_params = p.type_params()?;
            let params = p.parameters()?;
            if p.eat(Kind::Semicolon) {
                return Ok(DeclarationKind::ControlType { name, type_params, params });
            }
            let constructor_params = p.constructor_params()?;
            let start = p.open_brace()?;
            let mut body = None;
            let locals = p.items_in_braces(|p| match &body {
                None if p.begins_apply() => {
                    p.bump();
                    let annotations = p.annotations()?;
                    body = Some(p.block(annotations)?);
                    Ok(None)
                }
                None => p.control_local().map(Some),
                Some(_) => Err(p.expected("`}` behind the `apply` block")),
            });
            if body.is_none() {
                let message = format!("the control `{}` has no `apply` block", name.text);
                let error = Diagnostic::error("E0301", name.span, message);
                p.fail(error.with_help("what it does stands in `apply { ... }` at its end"));
            }
            p.close_brace("a declaration, `apply` or `}`");
            let span = p.span_from(start);
            let empty = crate::ast::Block { annotations: Vec::new(), statements: Vec::new(), span };
            Ok(DeclarationKind::Control(ControlDeclaration {
                name,
                type_params,
                params,
                constructor_params,
                locals: locals.into_iter().flatten().collect(),
                body: body.unwrap_or(empty),
            }))
        })
    }

    fn begins_apply(&mut self) -> bool {
        if self.kind_at(1) == Kind::LBrace {
            self.mend_keyword(&[Keyword::Apply]);
        }
        let block = matches!(self.kind_at(1), Kind::LBrace | Kind::At);
        self.is(Kind::Name(Some(Keyword::Apply))) && block
    }

    /// `controlLocalDeclaration`
    fn control_local(&mut self) -> Parsed<Declaration> {
        let start = self.span();
        let annotations = self.annotations()?;
        if matches!(self.kind_at(1), Kind::Name(_) | Kind::Key(_)) {
            self.mend_keyword(PARTS);
        }
        match self.kind() {
            Kind::Key(Keyword::Const) => self.constant(annotations, start),
            Kind::Key(Keyword::Action) => self.action(annotations, start),
            Kind::Key(Keyword::Table) => self.table(annotations, start),
            Kind::Key(Keyword::Void) => {
                let message = "a control cannot hold a function";
                let error = Diagnostic::error("E0308", self.span(), message);
                Err(self.fail(error.with_help("declare it at top level, or make it an action")))
            }
            _ if self.begins_type() => self.variable_or_instantiation(annotations, start),
            _ => Err(self.expected_of("a declaration or `apply`", PARTS)),
        }
    }

    /// `tableDeclaration`
    fn table(&mut self, annotations: Vec<Annotation>, start: Span) -> Parsed<Declaration> {
        self.expect_key(Keyword::Table)?;
        let name = self.name("the name of a table")?;
        self.open_brace()?;
        let properties = self.items_in_braces(Parser::table_property);
        self.close_brace("a property of the table or `}`");
        self.names.declare(&name.text, Meaning::Value);
        let kind = DeclarationKind::Table { name, properties };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `tableProperty`
    fn table_property(&mut self) -> Parsed<TableProperty> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_const = self.eat_key(Keyword::Const);
        let plain = !is_const && annotations.is_empty();
        if self.kind_at(1) == Kind::Eq && self.kind_at(2) == Kind::LBrace {
            self.mend_as("property", &[Keyword::Key, Keyword::Actions, Keyword::Entries]);
        }
        match self.kind() {
            Kind::Name(Some(Keyword::Key)) if plain => {
                self.bump();
                Ok(TableProperty::Key(self.property_list("a key", Parser::key_element)?))
            }
            Kind::Name(Some(Keyword::Actions)) if plain => {
                self.bump();
                Ok(TableProperty::Actions(self.property_list("an action", Parser::listed_action)?))
            }
            Kind::Name(Some(Keyword::Entries)) => {
                self.bump();
                let entries = self.property_list("an entry", Parser::entry)?;
                let span = self.span_from(start);
                Ok(TableProperty::Entries { is_const, entries, annotations, span })
            }
            Kind::Name(Some(word @ (Keyword::Key | Keyword::Actions))) => {
                let message = format!("`{}` takes neither `const` nor annotations", word.text());
                Err(self.fail(Diagnostic::error("E0308", self.span(), message)))
            }
            _ => self.other_property(is_const, annotations),
        }
    }

    /// `= { items }`
    fn property_list<T>(
        &mut self,
        what: &str,
        item: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.expect(Kind::Eq)?;
        self.open_brace()?;
        let items = self.items_in_braces(item);
        self.close_brace(&format!("{what} or `}}`"));
        Ok(items)
    }

    /// `name = e;`
    fn other_property(
        &mut self,
        is_const: bool,
        annotations: Vec<Annotation>,
    ) -> Parsed<TableProperty> {
        let name = self.non_type_name("a property of the table")?;
        if !self.is(Kind::Eq) {
            return Err(self.no_property(&name));
        }
        self.bump();
        let value = self.expression()?;
        self.expect(Kind::Semicolon)?;
        Ok(TableProperty::Other { is_const, name, value, annotations })
    }

    /// Reports a property without `=`, perhaps because its name is misspelt.
    fn no_property(&mut self, name: &Name) -> Reported {
        let (found, span) = (described(self.token()), self.span());
        let message = format!("expected `=`, found {found}");
        let error = Diagnostic::error("E0301", span, message).with_label("expected `=`");
        match near_name(&name.text, PROPERTIES.iter().copied()) {
            Some(near) => {
                let text = format!("did you mean `{near}`?");
                self.fail(error.with_suggestion(name.span, near, text))
            }
            None => self.fail(error),
        }
    }

    /// `keyElement`
    fn key_element(&mut self) -> Parsed<KeyElement> {
        let expr = self.expression()?;
        self.expect(Kind::Colon)?;
        let match_kind = self.name("a match kind")?;
        let annotations = self.annotations()?;
        self.expect(Kind::Semicolon)?;
        Ok(KeyElement { expr, match_kind, annotations })
    }

    /// `optAnnotations actionRef ;`
    fn listed_action(&mut self) -> Parsed<ActionRef> {
        let start = self.span();
        let annotations = self.annotations()?;
        let mut action = self.action_ref()?;
        self.expect(Kind::Semicolon)?;
        action.annotations = annotations;
        action.span = self.span_from(start);
        Ok(action)
    }

    /// `actionRef`
    fn action_ref(&mut self) -> Parsed<ActionRef> {
        let start = self.span();
        let global = self.eat(Kind::Dot);
        let name = self.non_type_name("the name of an action")?;
        let args = if self.is(Kind::LParen) { Some(self.arguments()?) } else { None };
        let annotations = Vec::new();
        Ok(ActionRef { annotations, name, global, args, span: self.span_from(start) })
    }

    /// `entry`
    fn entry(&mut self) -> Parsed<Entry> {
        let start = self.span();
        let is_const = self.eat_key(Keyword::Const);
        let has_priority =
            self.is(Kind::Name(Some(Keyword::Priority))) && self.kind_at(1) == Kind::Eq;
        let priority = if has_priority {
            self.bump();
            self.bump();
            let value = self.expression()?;
            self.expect(Kind::Colon)?;
            Some(value)
        } else {
            None
        };
        let keysets = self.keysets()?;
        self.expect(Kind::Colon)?;
        let action = self.action_ref()?;
        let annotations = self.annotations()?;
        self.expect(Kind::Semicolon)?;
        let span = self.span_from(start);
        Ok(Entry { is_const, priority, keysets, action, annotations, span })
    }
}
