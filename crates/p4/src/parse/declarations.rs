//! Declarations: at top level and in blocks.

use super::{Parsed, Parser, names::Meaning};
use crate::{
    ast::{
        Annotation, Declaration, DeclarationKind, Direction, Expr, Field, FieldsKind, Method, Name,
        Parameter, Prototype, TypeRef, TypedefTarget,
    },
    diagnostic::Diagnostic,
    lex::{Keyword, Kind},
    source::Span,
};

/// Keywords with which a top-level declaration begins.
const DECLARATIONS: &[Keyword] = &[
    Keyword::Const,
    Keyword::Extern,
    Keyword::Action,
    Keyword::Parser,
    Keyword::Header,
    Keyword::HeaderUnion,
    Keyword::Struct,
    Keyword::Enum,
    Keyword::Typedef,
    Keyword::Type,
    Keyword::Control,
    Keyword::Package,
    Keyword::MatchKind,
];

/// Words with which declarations of P4-14 begin and none of P4-16.
const OLDER_WORDS: &[&str] =
    &["header_type", "field_list", "field_list_calculation", "calculated_field", "metadata"];

impl Parser {
    /// `declaration`
    pub(super) fn top_level_declaration(&mut self) -> Parsed<Declaration> {
        let start = self.span();
        let annotations = self.annotations()?;
        self.refuse_older_language()?;
        let begins_a_pair = matches!(self.kind_at(1), Kind::Name(_) | Kind::LBrace | Kind::Key(_));
        if begins_a_pair && !self.declares_later_type() {
            self.mend_keyword(DECLARATIONS);
        }
        let kind = match self.kind() {
            Kind::Key(Keyword::Const) => return self.constant(annotations, start),
            Kind::Key(Keyword::Extern) => self.extern_declaration()?,
            Kind::Key(Keyword::Action) => return self.action(annotations, start),
            Kind::Key(Keyword::Parser) => self.parser_declaration()?,
            Kind::Key(Keyword::Control) => self.control_declaration()?,
            Kind::Key(Keyword::Package) => self.package_type()?,
            Kind::Key(Keyword::Typedef) => self.typedef()?,
            Kind::Name(Some(Keyword::Type)) if self.declares_new_type() => self.new_type()?,
            Kind::Key(Keyword::Header | Keyword::Struct | Keyword::HeaderUnion | Keyword::Enum) => {
                self.derived_type()?
            }
            Kind::Key(Keyword::Error) if self.kind_at(1) == Kind::LBrace => self.errors()?,
            Kind::Key(Keyword::MatchKind) if self.kind_at(1) == Kind::LBrace => {
                self.match_kinds()?
            }
            _ if self.begins_type() => {
                return self.function_or_instantiation(annotations, start);
            }
            _ => return Err(self.expected_of("a declaration", DECLARATIONS)),
        };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// Rejects a program in P4-14 with one error, by its first words.
    fn refuse_older_language(&mut self) -> Parsed<()> {
        let word = self.token().text.clone();
        let declares = self.is(Kind::Name(None)) && matches!(self.kind_at(1), Kind::Name(_));
        if !declares || !OLDER_WORDS.contains(&&*word) || self.names.meaning(&word).is_some() {
            return Ok(());
        }
        let message = format!("`{word}` is P4-14; only P4-16 programs can be read");
        let reported = self.fail(Diagnostic::error("E0311", self.span(), message));
        self.at = self.tokens.len() - 1;
        Err(reported)
    }

    /// True for `T f<T>(...)`: the return type is declared behind the name.
    fn declares_later_type(&self) -> bool {
        self.kind_at(2) == Kind::Lt
    }

    /// `type` also serves as a name; `type T name;` declares.
    fn declares_new_type(&self) -> bool {
        !matches!(self.kind_at(1), Kind::LParen | Kind::Lt | Kind::LBracket)
    }

    /// `constantDeclaration`
    pub(super) fn constant(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<Declaration> {
        self.expect_key(Keyword::Const)?;
        let ty = self.type_ref()?;
        let name = self.name("the name of a constant")?;
        self.expect(Kind::Eq)?;
        let value = self.expression()?;
        self.expect(Kind::Semicolon)?;
        self.names.declare(&name.text, Meaning::Value);
        let kind = DeclarationKind::Constant { ty, name, value };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `functionDeclaration` or `instantiation`
    fn function_or_instantiation(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<Declaration> {
        if self.is_key(Keyword::Void) {
            return self.function(annotations, start, None);
        }
        let ty = self.type_ref()?;
        if self.is(Kind::LParen) {
            return self.instantiation(annotations, start, ty);
        }
        if self.is_name() && matches!(self.kind_at(1), Kind::Semicolon | Kind::Eq) {
            let name = self.name("the name of a function")?;
            let message = format!("the variable `{}` stands at top level", name.text);
            let error = Diagnostic::error("E0308", name.span, message);
            let error = error.with_note("variables belong to parsers, controls and blocks");
            return Err(self.fail(error.with_help("write `const` before it if it never changes")));
        }
        self.function(annotations, start, Some(ty))
    }

    /// The rest of a function, behind its return type; `void` itself if there is none yet.
    fn function(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
        returns: Option<TypeRef>,
    ) -> Parsed<Declaration> {
        let returns = match returns {
            Some(ty) => Some(ty),
            None => self.type_or_void()?,
        };
        let prototype = self.in_scope(|p| {
            let prototype = p.prototype_behind(returns)?;
            let body = p.block(Vec::new())?;
            Ok((prototype, body))
        });
        let (prototype, body) = prototype?;
        self.names.declare(&prototype.name.text, Meaning::Value);
        let kind = DeclarationKind::Function { prototype, body };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// Runs a rule in a scope of its own.
    pub(super) fn in_scope<T>(&mut self, rule: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        let depth = self.names.depth();
        self.names.enter();
        let result = rule(self);
        self.names.leave_to(depth);
        result
    }

    /// The name, type parameters and parameters of a prototype whose return type has been read.
    fn prototype_behind(&mut self, returns: Option<TypeRef>) -> Parsed<Prototype> {
        let name = self.name("the name of a function")?;
        let type_params = self.type_params()?;
        let params = self.parameters()?;
        Ok(Prototype { returns, name, type_params, params })
    }

    /// `variableDeclaration` or `instantiation`
    pub(super) fn variable_or_instantiation(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<Declaration> {
        let ty = self.type_ref()?;
        if self.is(Kind::LParen) {
            return self.instantiation(annotations, start, ty);
        }
        let name = self.name("the name of a variable")?;
        self.refuse_size_behind(&name)?;
        let init = if self.eat(Kind::Eq) { Some(self.expression()?) } else { None };
        self.expect(Kind::Semicolon)?;
        self.names.declare(&name.text, Meaning::Value);
        let kind = DeclarationKind::Variable { ty, name, init };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// Rejects an array size behind the name, as in C; P4 has it behind the type.
    fn refuse_size_behind(&mut self, name: &Name) -> Parsed<()> {
        if !self.is(Kind::LBracket) {
            return Ok(());
        }
        let message = "the size of an array belongs to its type";
        let error = Diagnostic::error("E0308", self.span(), message);
        Err(self.fail(error.with_help(format!("write `Type[size] {}`", name.text))))
    }

    /// `instantiation`, behind its type.
    fn instantiation(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
        ty: TypeRef,
    ) -> Parsed<Declaration> {
        let args = self.arguments()?;
        let name = self.name("the name of an instance")?;
        if self.is(Kind::LBracket) {
            let message = "there are no arrays of instances";
            let error = Diagnostic::error("E0308", self.span(), message);
            return Err(self.fail(error));
        }
        let body = if self.eat(Kind::Eq) { Some(self.object_body()?) } else { None };
        self.expect(Kind::Semicolon)?;
        self.names.declare(&name.text, Meaning::Value);
        let kind = DeclarationKind::Instantiation { ty, args, name, body };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `objInitializer`
    fn object_body(&mut self) -> Parsed<Vec<Declaration>> {
        self.nested(|p| {
            p.open_brace()?;
            p.names.enter();
            let items = p.items_in_braces(|p| {
                let start = p.span();
                let annotations = p.annotations()?;
                if !p.begins_type() {
                    return Err(p.expected("a method or an instance"));
                }
                p.function_or_instantiation(annotations, start)
            });
            p.names.leave();
            p.close_brace("a method or `}`");
            Ok(items)
        })
    }

    /// `actionDeclaration`
    pub(super) fn action(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Parsed<Declaration> {
        self.expect_key(Keyword::Action)?;
        let name = self.name("the name of an action")?;
        self.names.declare(&name.text, Meaning::Value);
        let (params, body) = self.in_scope(|p| Ok((p.parameters()?, p.block(Vec::new())?)))?;
        let kind = DeclarationKind::Action { name, params, body };
        Ok(Declaration { annotations, kind, span: self.span_from(start) })
    }

    /// `externDeclaration`
    fn extern_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.expect_key(Keyword::Extern)?;
        let object = self.is_name()
            && match self.kind_at(1) {
                Kind::LBrace => true,
                Kind::Lt => {
                    let behind = self.behind_type_args(self.at + 1);
                    let kind = behind.and_then(|at| self.tokens.get(at)).map(|token| token.kind);
                    kind == Some(Kind::LBrace)
                }
                _ => false,
            };
        if object {
            return self.extern_object();
        }
        let returns = self.type_or_void()?;
        let prototype = self.in_scope(|p| p.prototype_behind(returns))?;
        self.names.declare(&prototype.name.text, Meaning::Value);
        self.expect(Kind::Semicolon)?;
        Ok(DeclarationKind::ExternFunction(prototype))
    }

    /// `extern Name<T> { ... }`, behind `extern`.
    fn extern_object(&mut self) -> Parsed<DeclarationKind> {
        let name = self.non_type_name("the name of an extern object")?;
        self.names.declare(&name.text, Meaning::Type);
        self.in_scope(|p| {
            let type_params = p.type_params()?;
            p.open_brace()?;
            let methods = p.items_in_braces(|p| p.method(&name));
            p.close_brace("a method or `}`");
            Ok(DeclarationKind::ExternObject { name: name.clone(), type_params, methods })
        })
    }

    /// `methodPrototype`
    fn method(&mut self, object: &Name) -> Parsed<Method> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_abstract = self.eat_key(Keyword::Abstract);
        let is_constructor = self.is_name() && self.kind_at(1) == Kind::LParen;
        let returns = if is_constructor { None } else { self.type_or_void()? };
        let prototype = self.in_scope(|p| p.prototype_behind(returns))?;
        self.expect(Kind::Semicolon)?;
        if is_constructor && prototype.name.text != object.text {
            let message = format!("the method `{}` has no return type", prototype.name.text);
            let error = Diagnostic::error("E0308", prototype.name.span, message);
            let note =
                format!("only constructors have none, and they are called `{}`", object.text);
            self.report(error.with_note(note));
        }
        let span = self.span_from(start);
        Ok(Method { annotations, is_constructor, is_abstract, prototype, span })
    }

    /// `( parameterList )`. The names are declared in the innermost scope.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.enclosed(Kind::LParen, Kind::RParen, Parser::parameter)
    }

    /// `parameter`
    fn parameter(&mut self) -> Parsed<Parameter> {
        let start = self.span();
        let annotations = self.annotations()?;
        let direction = match self.kind() {
            Kind::Key(Keyword::In) => Direction::In,
            Kind::Key(Keyword::Out) => Direction::Out,
            Kind::Key(Keyword::InOut) => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        if !self.begins_type() {
            return Err(self.expected("a parameter"));
        }
        let ty = self.type_ref()?;
        let name = self.name("the name of a parameter")?;
        let default = if self.eat(Kind::Eq) { Some(self.expression()?) } else { None };
        self.names.declare(&name.text, Meaning::Value);
        Ok(Parameter { annotations, direction, ty, name, default, span: self.span_from(start) })
    }

    /// `packageTypeDeclaration ;`
    fn package_type(&mut self) -> Parsed<DeclarationKind> {
        self.expect_key(Keyword::Package)?;
        let name = self.name("the name of a package")?;
        self.names.declare(&name.text, Meaning::Type);
        let (type_params, params) = self.in_scope(|p| Ok((p.type_params()?, p.parameters()?)))?;
        self.expect(Kind::Semicolon)?;
        Ok(DeclarationKind::PackageType { name, type_params, params })
    }

    /// `derivedTypeDeclaration`
    fn derived_type(&mut self) -> Parsed<DeclarationKind> {
        let kind = match self.bump().kind {
            Kind::Key(Keyword::Enum) => return self.enumeration(),
            Kind::Key(Keyword::Header) => FieldsKind::Header,
            Kind::Key(Keyword::HeaderUnion) => FieldsKind::HeaderUnion,
            _ => FieldsKind::Struct,
        };
        let name = self.name("the name of a type")?;
        let depth = self.names.depth();
        self.names.enter();
        let body = self.fields();
        self.names.leave_to(depth);
        self.names.declare(&name.text, Meaning::Type);
        let (type_params, fields) = body?;
        Ok(DeclarationKind::Fields { kind, name, type_params, fields })
    }

    /// Type parameters and fields.
    fn fields(&mut self) -> Parsed<(Vec<Name>, Vec<Field>)> {
        let type_params = self.type_params()?;
        self.open_brace()?;
        let fields = self.items_in_braces(|p| {
            let annotations = p.annotations()?;
            if !p.begins_type() {
                return Err(p.expected("a field or `}`"));
            }
            let ty = p.type_ref()?;
            let name = p.name("the name of a field")?;
            p.refuse_size_behind(&name)?;
            p.expect(Kind::Semicolon)?;
            Ok(Field { annotations, ty, name })
        });
        self.close_brace("a field or `}`");
        Ok((type_params, fields))
    }

    /// `enumDeclaration`, behind `enum`.
    fn enumeration(&mut self) -> Parsed<DeclarationKind> {
        let plain = self.is_name() && self.kind_at(1) == Kind::LBrace;
        let underlying = if plain { None } else { Some(self.type_ref()?) };
        let name = self.name("the name of an enumeration")?;
        let with_values = underlying.is_some();
        let members = self.braced_names(true, |p| {
            let member = p.name("the name of a member")?;
            let value = if with_values || p.is(Kind::Eq) { Some(p.enum_value()?) } else { None };
            if let (false, Some(value)) = (with_values, &value) {
                let message = "a member has a value only if the enumeration has a type";
                let error = Diagnostic::error("E0308", value.span, message);
                p.report(error.with_help("write `enum bit<8> Name { ... }`"));
            }
            Ok((member, value))
        })?;
        self.names.declare(&name.text, Meaning::Type);
        Ok(DeclarationKind::Enum { name, underlying, members })
    }

    fn enum_value(&mut self) -> Parsed<Expr> {
        self.expect(Kind::Eq)?;
        self.expression()
    }

    /// Items in braces with commas between, at least one.
    fn braced_names<T>(
        &mut self,
        trailing: bool,
        item: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.open_brace()?;
        if self.is(Kind::RBrace) {
            return Err(self.expected("a name"));
        }
        let items = self.comma_list(Kind::RBrace, trailing, item)?;
        if !self.is(Kind::RBrace) {
            return Err(self.expected("`,` or `}`"));
        }
        self.close_brace("`,` or `}`");
        Ok(items)
    }

    /// `errorDeclaration`
    fn errors(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let names = self.braced_names(false, |p| p.name("the name of an error"))?;
        Ok(DeclarationKind::Error(names))
    }

    /// `matchKindDeclaration`
    fn match_kinds(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let names = self.braced_names(true, |p| p.name("the name of a match kind"))?;
        for name in &names {
            self.names.declare(&name.text, Meaning::Value);
        }
        Ok(DeclarationKind::MatchKind(names))
    }

    /// `typedef T name;`
    fn typedef(&mut self) -> Parsed<DeclarationKind> {
        self.expect_key(Keyword::Typedef)?;
        let start = self.span();
        let annotations = self.annotations()?;
        let derived = matches!(
            self.kind(),
            Kind::Key(Keyword::Header | Keyword::Struct | Keyword::HeaderUnion | Keyword::Enum)
        );
        let target = if derived {
            let kind = self.derived_type()?;
            let declaration = Declaration { annotations, kind, span: self.span_from(start) };
            TypedefTarget::Declaration(Box::new(declaration))
        } else {
            TypedefTarget::Type(self.type_ref()?)
        };
        let name = self.name("the name of a type")?;
        self.expect(Kind::Semicolon)?;
        self.names.declare(&name.text, Meaning::Type);
        Ok(DeclarationKind::Typedef { target, name })
    }

    /// `type T name;`
    fn new_type(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let target = self.type_ref()?;
        let name = self.name("the name of a type")?;
        self.expect(Kind::Semicolon)?;
        self.names.declare(&name.text, Meaning::Type);
        Ok(DeclarationKind::NewType { target, name })
    }
}
