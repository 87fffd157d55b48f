/** A first DecisionLog in three languages: complete, short, ready to paste. */

export const SNIPPET_LANGUAGES = ['curl', 'python', 'typescript'] as const;
export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

export interface SnippetInput {
  ingestUrl: string;
  /** Null shows a placeholder in its place. */
  agentKey: string | null;
  /** One that the key may speak for; absent: it may for any. */
  agentId?: string | undefined;
  /** Makes the ids of this visitor's first step unlike everybody else's. */
  suffix: string;
  /** ISO 8601. */
  timestamp: string;
}

export const KEY_PLACEHOLDER = 'YOUR_AGENT_KEY';

const firstLog = ({ suffix, timestamp, agentId = 'my-first-agent' }: SnippetInput) => ({
  meta: { trace_id: `step-${suffix}`, timestamp, session_id: `hello-${suffix}` },
  identity: { agent_id: agentId, agent_type: 'assistant', capability_version: '1.0.0' },
  cognition: { intent: 'Say hello to Observatory' },
  action: { status: 'success', tool_call: 'hello' },
});

/** Each section of the log on a line of its own: short enough to read, complete enough to send. */
function compactJson(input: SnippetInput): string {
  const lines = Object.entries(firstLog(input)).map(
    ([section, members]) => `  "${section}": ${spaced(JSON.stringify(members))}`,
  );
  return `{\n${lines.join(',\n')}\n}`;
}

/** The members hold no `":"` and no `","` of their own. */
const spaced = (json: string): string => json.replaceAll('":"', '": "').replaceAll('","', '", "');

export function snippet(language: SnippetLanguage, input: SnippetInput): string {
  const key = input.agentKey ?? KEY_PLACEHOLDER;
  if (language === 'curl') return curlSnippet(input.ingestUrl, key, compactJson(input));
  return language === 'python' ? pythonSnippet(input, key) : typescriptSnippet(input, key);
}

const curlSnippet = (ingestUrl: string, key: string, body: string): string =>
  [
    `curl -X POST ${ingestUrl} \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');

function pythonSnippet(input: SnippetInput, key: string): string {
  return `import json, urllib.request

log = ${compactJson(input)}

request = urllib.request.Request(
    "${input.ingestUrl}",
    data=json.dumps(log).encode(),
    headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`;
}

function typescriptSnippet(input: SnippetInput, key: string): string {
  return `const log = ${compactJson(input)};

const response = await fetch("${input.ingestUrl}", {
  method: "POST",
  headers: { Authorization: "Bearer ${key}", "Content-Type": "application/json" },
  body: JSON.stringify(log),
});
console.log(response.status, await response.json());`;
}
