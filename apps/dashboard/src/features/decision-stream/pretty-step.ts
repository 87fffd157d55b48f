/** A step as JSON to read: indented, and with tool input that came as JSON text opened up. */
import type { StepView } from '#contracts';

export function prettyStep(step: StepView): string {
  const { tool_input } = step.action;
  const shown =
    typeof tool_input === 'string'
      ? { ...step, action: { ...step.action, tool_input: opened(tool_input) } }
      : step;
  return JSON.stringify(shown, null, 2);
}

function opened(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
