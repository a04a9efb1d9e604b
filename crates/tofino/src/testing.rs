//! Shared test support of this folder: programs of a few lines, loaded from memory.

use super::load::{LoadError, LoadOptions, Loaded, load_with};
use super::register_action::CompiledAction;
use sojourn_p4::preprocess::{MemoryLoader, OverlayLoader};
use std::path::{Path, PathBuf};

/// The repository's folder of P4 programs.
pub fn p4_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4")
}

/// Loads a program from its text.
pub fn load_text(text: &str) -> Result<Loaded, LoadError> {
    load_text_with(text, LoadOptions::default())
}

/// [`load_text`] with options; the shipped include folder is added.
pub fn load_text_with(text: &str, mut options: LoadOptions) -> Result<Loaded, LoadError> {
    options.include_paths.push(p4_folder().join("include"));
    let loader = OverlayLoader(MemoryLoader::new().with("program.p4", text));
    load_with(&loader, "program.p4", &options)
}

/// Parts of a program that differ between tests; the rest is the same for all.
#[derive(Clone, Copy, Default)]
pub struct Parts<'t> {
    /// Types and constants.
    pub types: &'t str,
    /// Fields of the egress metadata struct.
    pub metadata: &'t str,
    /// Declarations in the egress control.
    pub egress: &'t str,
    /// Statements of the egress control.
    pub apply: &'t str,
    /// Declarations and statements of the egress deparser before the headers are emitted.
    pub deparser: (&'t str, &'t str),
    /// Declarations in the ingress control.
    pub ingress: &'t str,
    /// Statements of the ingress control.
    pub ingress_apply: &'t str,
    /// The program is for Tofino 2.
    pub second_chip: bool,
    /// Declarations and statements of the ingress deparser.
    pub ingress_deparser: (&'t str, &'t str),
}

impl Parts<'_> {
    /// The whole program.
    pub fn text(&self) -> String {
        let Parts { types, metadata, egress, apply, deparser, ingress, ingress_apply, .. } = self;
        let (deparser_objects, deparser) = deparser;
        let (ingress_objects, ingress_deparser) = self.ingress_deparser;
        let declarations = if self.second_chip { "t2na.p4" } else { "tna.p4" };
        format!(
            "#include <core.p4>
#include <{declarations}>
header ethernet_h {{ bit<48> dst; bit<48> src; bit<16> kind; }}
{types}
struct headers_t {{ ethernet_h ethernet; }}
struct ig_md_t {{ bit<16> word; bit<8> tag; bit<1> flag; MirrorId_t session; }}
struct eg_md_t {{ bit<32> now; bit<32> a; bit<32> b; bit<32> c; bit<16> d; bit<8> e; bit<1> f; {metadata} }}
parser IgParser(packet_in p, out headers_t h, out ig_md_t m, out ingress_intrinsic_metadata_t i) {{
    state start {{
        p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.ethernet); transition accept;
    }}
}}
control Ig(inout headers_t h, inout ig_md_t m, in ingress_intrinsic_metadata_t i,
           in ingress_intrinsic_metadata_from_parser_t ip,
           inout ingress_intrinsic_metadata_for_deparser_t id,
           inout ingress_intrinsic_metadata_for_tm_t t) {{
    {ingress}
    apply {{ {ingress_apply} }}
}}
control IgDeparser(packet_out p, inout headers_t h, in ig_md_t m,
                   in ingress_intrinsic_metadata_for_deparser_t d) {{
    {ingress_objects}
    apply {{ {ingress_deparser} p.emit(h.ethernet); }}
}}
parser EgParser(packet_in p, out headers_t h, out eg_md_t m, out egress_intrinsic_metadata_t e) {{
    state start {{ p.extract(e); p.extract(h.ethernet); transition accept; }}
}}
control Eg(inout headers_t h, inout eg_md_t m, in egress_intrinsic_metadata_t e,
           in egress_intrinsic_metadata_from_parser_t ep,
           inout egress_intrinsic_metadata_for_deparser_t d,
           inout egress_intrinsic_metadata_for_output_port_t o) {{
    {egress}
    apply {{ {apply} }}
}}
control EgDeparser(packet_out p, inout headers_t h, in eg_md_t m,
                   in egress_intrinsic_metadata_for_deparser_t d) {{
    {deparser_objects}
    apply {{ {deparser} p.emit(h.ethernet); }}
}}
Pipeline(IgParser(), Ig(), IgDeparser(), EgParser(), Eg(), EgDeparser()) pipe;
Switch(pipe) main;
"
        )
    }

    /// Loads the program; panics with its diagnostics if it is refused.
    pub fn loaded(&self) -> Loaded {
        let text = self.text();
        load_text(&text).unwrap_or_else(|error| panic!("{}", error.render(&Default::default())))
    }

    /// The codes and messages of the errors with which the program is refused.
    pub fn refused(&self) -> Vec<(&'static str, String)> {
        let Err(error) = load_text(&self.text()) else { panic!("the program was accepted") };
        let errors = error.diagnostics.into_iter().filter(|diagnostic| diagnostic.is_error());
        errors.map(|diagnostic| (diagnostic.code, diagnostic.message)).collect()
    }
}

/// The compiled action whose name ends in `name`.
pub fn action<'l>(loaded: &'l Loaded, name: &str) -> &'l CompiledAction {
    let mut actions = loaded.plane.registers().flat_map(|register| &register.compiled.actions);
    actions.find(|action| action.name.ends_with(name)).unwrap_or_else(|| panic!("no action {name}"))
}
