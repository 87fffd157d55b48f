/** How to point a vendor's own SDK at the proxy: short, complete, ready to paste. Pure. */
import { HEADERS } from '#contracts';
import { KEY_PLACEHOLDER } from './snippets';

const IN_CODE = ['openai-python', 'openai-node', 'anthropic', 'gemini', 'curl'] as const;
export type ProxyClient = (typeof IN_CODE)[number] | 'environment';

/** Whose vendor key pays: the caller's own passes through, or the one kept in Observatory is put in. */
export type KeyOwner = 'caller' | 'ours';

/** The environment has room for one key: that is the agent's only where ours pays. */
export const PROXY_CLIENTS: Record<KeyOwner, readonly ProxyClient[]> = {
  caller: IN_CODE,
  ours: ['environment', ...IN_CODE],
};

export interface ProxySnippetInput {
  /** Of the gateway, without a slash at its end. */
  origin: string;
  /** Null shows a placeholder in its place. */
  agentKey: string | null;
  keyOwner: KeyOwner;
}

/** Where each vendor's SDK is pointed at, and what it reads from its environment where its code says nothing. */
const VENDORS = [
  { name: 'OpenAI', path: '/proxy/openai/v1', urlVariable: 'OPENAI_BASE_URL', keyVariable: 'OPENAI_API_KEY' },
  {
    name: 'Anthropic',
    path: '/proxy/anthropic',
    urlVariable: 'ANTHROPIC_BASE_URL',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  {
    name: 'Gemini',
    path: '/proxy/gemini',
    urlVariable: 'GOOGLE_GEMINI_BASE_URL',
    keyVariable: 'GEMINI_API_KEY',
  },
] as const;

export const proxyBaseUrls = (origin: string) =>
  VENDORS.map(({ name, path }) => ({ name, url: origin + path }));

const AGENT = 'my-agent';

export function proxySnippet(client: ProxyClient, input: ProxySnippetInput): string {
  const key = input.agentKey ?? KEY_PLACEHOLDER;
  if (client === 'environment') return environment(input.origin, key);
  const isOurs = input.keyOwner === 'ours';
  // With our vendor key, the agent key stands where the SDK puts its own; else it travels in a header.
  const headers: readonly (readonly [string, string])[] = [
    ...(isOurs ? [] : [[HEADERS.agentKey, key] as const]),
    [HEADERS.agent, AGENT],
  ];
  const vendorKey = isOurs ? key : null;
  return writers[client](input.origin, vendorKey, headers);
}

const environment = (origin: string, key: string): string =>
  VENDORS.map(({ path, urlVariable, keyVariable }) =>
    [`export ${urlVariable}="${origin}/agents/${AGENT}${path}"`, `export ${keyVariable}="${key}"`].join('\n'),
  ).join('\n\n');

type Headers = readonly (readonly [string, string])[];
/** @param apiKey null: the caller's own, from where it always was */
type Writer = (origin: string, apiKey: string | null, headers: Headers) => string;

/** A line each: a key is long. @param indent of the line that it begins in */
const object = (headers: Headers, indent = '  '): string =>
  `{\n${headers.map(([name, value]) => `${indent}  "${name}": "${value}",\n`).join('')}${indent}}`;

const line = (name: string, apiKey: string | null, join: string): string =>
  apiKey === null ? '' : `\n  ${name}${join}"${apiKey}",`;

const writers: Record<(typeof IN_CODE)[number], Writer> = {
  'openai-python': (origin, apiKey, headers) => `from openai import OpenAI

client = OpenAI(
  base_url="${origin}/proxy/openai/v1",${line('api_key', apiKey, '=')}
  default_headers=${object(headers)},
)`,
  'openai-node': (origin, apiKey, headers) => `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: "${origin}/proxy/openai/v1",${line('apiKey', apiKey, ': ')}
  defaultHeaders: ${object(headers)},
});`,
  anthropic: (origin, apiKey, headers) => `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: "${origin}/proxy/anthropic",${line('apiKey', apiKey, ': ')}
  defaultHeaders: ${object(headers)},
});`,
  gemini: (origin, apiKey, headers) => `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  apiKey: ${apiKey === null ? 'process.env.GEMINI_API_KEY' : `"${apiKey}"`},
  httpOptions: {
    baseUrl: "${origin}/proxy/gemini",
    headers: ${object(headers, '    ')},
  },
});`,
  curl: (origin, apiKey, headers) =>
    [
      `curl ${origin}/proxy/openai/v1/chat/completions \\`,
      apiKey === null
        ? '  -H "Authorization: Bearer $OPENAI_API_KEY" \\'
        : `  -H "Authorization: Bearer ${apiKey}" \\`,
      ...headers.map(([name, value]) => `  -H "${name}: ${value}" \\`),
      '  -H "Content-Type: application/json" \\',
      `  -d '{"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Say hello"}]}'`,
    ].join('\n'),
};
