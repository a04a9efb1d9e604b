//! Names of types, scope by scope: all semantic information that the grammar needs.
//!
//! The grammar of P4 is ambiguous without this: `f < a > (b)` is a call or two comparisons, `(a) -
//! b` a cast or a difference. A use follows its declaration (specification 6.6.1), so looking back
//! is enough. An undeclared name is neither; the rules then decide by its form.

use std::{collections::HashMap, sync::Arc};

/// Meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A type, parser, control, package, extern object or type parameter.
    Type,
    /// A variable, constant, parameter, instance, function, action, table or state.
    Value,
}

/// The names in scope.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Declarations of each name, innermost last, with their scope's depth.
    meanings: HashMap<Arc<str>, Vec<(usize, Meaning)>>,
    /// Names declared in each open scope except the outermost.
    scopes: Vec<Vec<Arc<str>>>,
}

impl Names {
    /// Opens a scope.
    pub fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        let depth = self.scopes.len();
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(meanings) = self.meanings.get_mut(&name)
                && meanings.last().is_some_and(|(at, _)| *at == depth)
            {
                meanings.pop();
            }
        }
    }

    /// Number of open scopes, for leaving several at once after an error.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Closes scopes until `depth` are open.
    pub fn leave_to(&mut self, depth: usize) {
        while self.scopes.len() > depth {
            self.leave();
        }
    }

    /// Declares a name in the innermost scope. The later of two declarations wins.
    pub fn declare(&mut self, name: &Arc<str>, meaning: Meaning) {
        let depth = self.scopes.len();
        let meanings = self.meanings.entry(name.clone()).or_default();
        match meanings.last_mut() {
            Some((at, old)) if *at == depth => *old = meaning,
            _ => {
                meanings.push((depth, meaning));
                if let Some(scope) = self.scopes.last_mut() {
                    scope.push(name.clone());
                }
            }
        }
    }

    /// Meaning of a name in the current scope.
    pub fn meaning(&self, name: &str) -> Option<Meaning> {
        self.meanings.get(name)?.last().map(|(_, meaning)| *meaning)
    }

    /// Meaning of a name with a leading dot.
    pub fn global(&self, name: &str) -> Option<Meaning> {
        let (depth, meaning) = self.meanings.get(name)?.first()?;
        (*depth == 0).then_some(*meaning)
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning::*, *};

    #[test]
    fn an_inner_declaration_hides_an_outer_one_until_its_scope_ends() {
        let mut names = Names::default();
        let name: Arc<str> = "x".into();
        names.declare(&name, Type);
        names.enter();
        names.declare(&name, Value);
        assert_eq!((names.meaning("x"), names.global("x")), (Some(Value), Some(Type)));
        names.leave();
        assert_eq!(names.meaning("x"), Some(Type));
    }

    #[test]
    fn a_local_name_is_unknown_outside_and_at_top_level() {
        let mut names = Names::default();
        names.enter();
        names.declare(&"x".into(), Value);
        assert_eq!(names.global("x"), None);
        names.leave();
        assert_eq!(names.meaning("x"), None);
    }
}
