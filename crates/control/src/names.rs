//! Resolution of the names in a control-plane file: a full name, or a unique suffix of one.

use super::ControlError;
use crate::describe::{
    ActionDescription, KeyDescription, ObjectDescription, ParameterDescription, ProgramDescription,
    TableDescription,
};
use sojourn_p4::diagnostic::near_name;

/// Something with a name.
trait HasName {
    fn name(&self) -> &str;
}

impl HasName for TableDescription {
    fn name(&self) -> &str {
        &self.name
    }
}

impl HasName for ActionDescription {
    fn name(&self) -> &str {
        &self.name
    }
}

impl HasName for &ObjectDescription {
    fn name(&self) -> &str {
        &self.name
    }
}

impl ProgramDescription {
    /// The table with this name or suffix.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn table(&self, name: &str) -> Result<&TableDescription, ControlError> {
        find("there is no table", name, &self.tables)
    }

    /// The object of a kind (`register`, `counter`, `meter`) with this name or suffix.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn object(&self, kind: &str, name: &str) -> Result<&ObjectDescription, ControlError> {
        let kinds = [kind.to_owned(), format!("direct_{kind}"), format!("direct{kind}")];
        self.object_of(&kinds, &format!("there is no {kind}"), name)
    }

    /// The action profile or selector with this name or suffix.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn profile(&self, name: &str) -> Result<&ObjectDescription, ControlError> {
        let kinds = ["action_profile", "action_selector", "actionprofile", "actionselector"];
        self.object_of(&kinds.map(String::from), "there is no action profile", name)
    }

    fn object_of(
        &self,
        kinds: &[String],
        missing: &str,
        name: &str,
    ) -> Result<&ObjectDescription, ControlError> {
        let is_one = |object: &&ObjectDescription| kinds.contains(&object.of.to_lowercase());
        let objects: Vec<&ObjectDescription> = self.objects.iter().filter(is_one).collect();
        find(missing, name, &objects).copied()
    }
}

impl TableDescription {
    /// The action of this table with this name or suffix.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn action(&self, name: &str) -> Result<&ActionDescription, ControlError> {
        find(&format!("table {} has no action", self.name), name, &self.actions)
    }

    /// The key element of a name, by the rules of p4c's drivers: `$0` is `[0]`, a header's
    /// `$valid$` or `valid` is its validity.
    ///
    /// # Errors
    /// There is none.
    pub fn key(&self, name: &str) -> Result<&KeyDescription, ControlError> {
        let wanted = with_brackets(name);
        let mut endings = vec![wanted.clone(), format!("{wanted}$"), format!("{wanted}.$valid$")];
        if let Some(header) = wanted.strip_suffix("valid")
            && (header.is_empty() || header.ends_with('.'))
        {
            endings.push(format!("{header}$valid$"));
        }
        let field = |key: &KeyDescription| key.name.replace(".isValid()", ".$valid$");
        for ending in &endings {
            let is_it = |key: &&KeyDescription| field(key) == *ending || key.name == *ending;
            if let Some(found) = self.keys.iter().find(is_it) {
                return Ok(found);
            }
        }
        for ending in endings.iter().map(|ending| format!(".{ending}")) {
            if let Some(found) = self.keys.iter().rfind(|key| field(key).ends_with(&ending)) {
                return Ok(found);
            }
        }
        let known: Vec<&str> = self.keys.iter().map(|key| &*key.name).collect();
        let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(ControlError::Message(format!(
            "table {} has no key {name}{} (its keys are {listed})",
            self.name,
            hint(name, &known)
        )))
    }

    /// Whether entries can overlap, so that priorities decide.
    pub fn is_ordered(&self) -> bool {
        let plain = ["exact", "lpm", "selector"];
        self.keys.iter().any(|key| !plain.contains(&&*key.match_kind))
    }
}

impl ActionDescription {
    /// The parameter called `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn parameter(&self, name: &str) -> Result<&ParameterDescription, ControlError> {
        self.parameters.iter().find(|parameter| parameter.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.parameters.iter().map(|one| &*one.name).collect();
            let near = near_name(name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
            let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            ControlError::Message(format!(
                "action {} has no parameter {name}{near} (it has {listed})",
                self.name
            ))
        })
    }
}

/// Converts `$0` to `[0]`, an index into a header stack.
fn with_brackets(name: &str) -> String {
    let mut parts = name.split('$');
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        if digits == 0 {
            written.push('$');
            written.push_str(part);
        } else {
            written.push_str(&format!("[{}]{}", &part[..digits], &part[digits..]));
        }
    }
    written
}

/// The one whose name is `name`, or ends in it: at a dot if there is one, else anywhere.
fn find<'k, T: HasName>(missing: &str, name: &str, known: &'k [T]) -> Result<&'k T, ControlError> {
    if let Some(found) = known.iter().find(|thing| thing.name() == name) {
        return Ok(found);
    }
    for ending in [format!(".{name}"), name.to_owned()] {
        let found: Vec<&T> = known.iter().filter(|thing| thing.name().ends_with(&ending)).collect();
        match found[..] {
            [] => {}
            [one] => return Ok(one),
            _ => {
                let could = found.iter().map(|thing| thing.name()).collect::<Vec<_>>().join(", ");
                let said = format!("{name} could be {could}; write more of the name");
                return Err(ControlError::Message(said));
            }
        }
    }
    let names: Vec<&str> = known.iter().map(HasName::name).collect();
    let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(ControlError::Message(format!("{missing} {name}{} (known: {listed})", hint(name, &names))))
}

/// The suggestion of a near name, by last parts or by whole names: `; did you mean "x"?`.
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    let last = known.iter().map(|full| full.rsplit('.').next().unwrap_or(full));
    let near = near_name(name, last).or_else(|| near_name(name, known.iter().copied()));
    near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}
