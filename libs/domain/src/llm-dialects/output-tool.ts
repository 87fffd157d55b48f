/**
 * Structured output by way of a tool: the request declares one alone and demands it by name, so its call is the answer, and nobody
 * sends a result. A model that may choose, or has other tools, may be an agent's that carries its calls out.
 */
import { asList, asName, asRecord } from './read-json.js';

/** @param choice the vendor's `tool_choice`; Chat Completions has the name a level deeper */
export function isOutputTool(tools: unknown, choice: unknown): boolean {
  const demanded = asRecord(choice);
  const name = asName(demanded?.name) ?? asName(asRecord(demanded?.function)?.name);
  return name !== null && asList(tools).length === 1;
}
