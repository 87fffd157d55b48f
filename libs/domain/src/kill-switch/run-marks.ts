/**
 * What a coding agent writes around the output of a command, or of a tool, that has ended: its own number for the run, its
 * stopwatch, a process's id. The command said none of it, and no two runs are alike in it, so nobody would ever repeat himself.
 * Of a command that still runs the time is the news.
 */

/** Codex, of a command. */
const NUMBER_AND_TIME = /^Chunk ID: [0-9a-f]+\nWall time: [\d.]+ seconds\n(?=Process exited with code )/;
/** Codex, of a patch, a tool by MCP and a command in its older shell. */
const TIME = /^((?:Exit code: -?\d+\n)?)Wall time: [\d.]+ seconds\n(?=(?:Total output lines: \d+\n)?Output:)/;
/** Gemini CLI and Qwen Code. */
const PROCESS_ID = /\nProcess Group PGID: \d+(?=(?:\n<\/untrusted_context>)?\s*$)/;
/** Copilot CLI. */
const SHELL_ID = /(^|\n)<shellId: \S+ (completed with exit code -?\d+>\s*)$/;

export const withoutRunMarks = (result: string): string =>
  result.replace(NUMBER_AND_TIME, '').replace(TIME, '$1').replace(PROCESS_ID, '').replace(SHELL_ID, '$1<$2');
