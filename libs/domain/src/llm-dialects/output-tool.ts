/**
 * Structured output by way of a tool: its call is the answer, and nobody sends a result. It is known by the request, which declares
 * one tool alone and demands it by name, or by the name that a framework gives it. Any other tool of a model that may choose, or has
 * several, may be an agent's that carries its calls out.
 */
import type { LlmToolCall } from '#contracts';
import { asList, asName, asRecord } from './read-json.js';

/** @param choice the vendor's `tool_choice`; Chat Completions has the name a level deeper */
export function isOutputTool(tools: unknown, choice: unknown): boolean {
  const demanded = asRecord(choice);
  const name = asName(demanded?.name) ?? asName(asRecord(demanded?.function)?.name);
  return name !== null && asList(tools).length === 1;
}

/** Google's ADK, Strands, LlamaIndex, BeeAI, and the AI SDK where a model takes no schema beside tools. */
const OUTPUT_TOOLS = new Set([
  'set_model_response',
  'strands_structured_output',
  'format_output',
  'final_answer',
  'json',
]);

export const isOutputCall = ({ name }: LlmToolCall): boolean => OUTPUT_TOOLS.has(name);
