//! `log_msg`: a line of text with values in it.

use super::Runtime;
use sojourn_p4::interp::Context;
use sojourn_p4::ir::{Arg, ExternCall, Value};
use sojourn_target::log::LogLine;

impl Runtime {
    /// `log_msg(text)` and `log_msg(text, data)`: each `{}` is the next value, in decimal.
    pub(super) fn log(&mut self, call: &ExternCall, ctx: &Context<'_>) {
        let Some(Arg::In(Value::String(format))) = call.args.first() else { return };
        let mut values = Vec::new();
        if let Some(Arg::In(data)) = call.args.get(1) {
            collect(data, ctx, &mut values);
        }
        let mut values = values.into_iter();
        let mut text = String::with_capacity(format.len());
        let mut rest: &str = format;
        while let Some((before, after)) = rest.split_once("{}") {
            text.push_str(before);
            text.push_str(values.next().as_deref().unwrap_or("{}"));
            rest = after;
        }
        text.push_str(rest);
        self.log.push(LogLine { at: self.pass.now, text });
    }
}

fn collect(value: &Value, ctx: &Context<'_>, values: &mut Vec<String>) {
    match value {
        Value::Scalar(_) => values.push(ctx.eval_value_wide(value).to_string()),
        Value::VarBit(_, bits) => values.push(ctx.eval_wide(bits).to_string()),
        Value::Header { fields: parts, .. }
        | Value::Union { members: parts, .. }
        | Value::Struct { fields: parts, .. }
        | Value::Stack { elements: parts, .. } => {
            parts.iter().for_each(|part| collect(part, ctx, values));
        }
        Value::String(text) => values.push(text.to_string()),
    }
}
