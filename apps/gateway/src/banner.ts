/** What a person sees at start: where to go, how to get in, what to send. Secrets only from the process that made them. */
import { localUrl, RESET_ARGUMENT } from './config/config.js';
import type { StartSettings } from './config/config.module.js';
import type { Gateway } from './gateway.js';

/** One DecisionLog that anybody can paste into a shell. */
const SAMPLE_LOG = {
  meta: { trace_id: 'hello-1', timestamp: '2026-01-01T00:00:00Z', session_id: 'hello' },
  identity: { agent_id: 'my-agent', agent_type: 'assistant', capability_version: '1.0.0' },
  cognition: { intent: 'Say hello' },
  action: { status: 'success', tool_call: 'greet' },
};

function curlLine(url: string, agentKey: string): string {
  return [
    `curl -sS ${url}/v1/decision-logs`,
    `-H "Authorization: Bearer ${agentKey}"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(SAMPLE_LOG)}'`,
  ].join(' \\\n    ');
}

/** What the environment fixed is named and not printed: whoever set it has it, and logs outlive processes. */
export function printBanner(
  { url, bootstrap }: Gateway,
  { config, secrets }: StartSettings,
  write = writeOut,
): void {
  const base = config.publicUrl ?? localUrl(config, config.port || Number(new URL(url).port));
  const lines = ['', `  Observatory  ${base}`, ''];
  // A reset makes one beside the environment's.
  const isMade = bootstrap.operatorToken !== secrets.operatorToken;
  if (bootstrap.operatorToken && isMade)
    lines.push('  Log in:', `    ${base}/login#token=${bootstrap.operatorToken}`, '');
  else if (secrets.operatorToken)
    lines.push(`  Log in at ${base}/login with OBSERVATORY_OPERATOR_TOKEN.`, '');
  else lines.push(`  Log in with your operator token. Lost it? npm start -- ${RESET_ARGUMENT}`, '');
  const agentKey = secrets.agentKey ? '$OBSERVATORY_AGENT_KEY' : bootstrap.agentKey;
  if (agentKey) {
    lines.push('  Send a first DecisionLog:', `    ${curlLine(base, agentKey)}`, '');
    lines.push(
      `  Or send LLM calls through ${base}/proxy/openai/v1, /proxy/anthropic or /proxy/gemini:`,
      "  the agent key is their API key; the vendor's goes under Settings > Upstreams.",
      '',
    );
  } else lines.push('  Agent keys are made and revoked under Settings.', '');
  write(`${lines.join('\n')}\n`);
}

const writeOut = (text: string): void => {
  process.stdout.write(text);
};
