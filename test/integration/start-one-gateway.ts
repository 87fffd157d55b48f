/**
 * What most spec files begin and end with: one gateway for all their tests, in front of one upstream that they script.
 * Both are there from the first hook of the file on, which sees them change: they are bindings, not copies.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import { ScriptedUpstream } from '#testing';
import { type RunningGateway, startGateway } from './start-gateway.js';

type Environment = Record<string, string>;

export let upstream: ScriptedUpstream;
export let gateway: RunningGateway;

let env: Environment;

/** To be called once, ahead of the file's own hooks. @param envAt given the origin of the upstream */
export function startOneGateway(envAt: (origin: string) => Environment = () => ({})): void {
  beforeAll(async () => {
    upstream = await new ScriptedUpstream().listen();
    env = envAt(upstream.origin);
    gateway = await startGateway({ env });
  });
  afterAll(async () => {
    const code = await gateway?.stop();
    await upstream.close();
    expect(code).toBe(0);
  });
}

/** Every vendor is that upstream. */
export const upstreamsAt = (origin: string, key = 'sk-scripted'): Environment => ({
  OBSERVATORY_UPSTREAM_OPENAI_URL: `${origin}/v1`,
  OBSERVATORY_UPSTREAM_OPENAI_KEY: key,
  OBSERVATORY_UPSTREAM_ANTHROPIC_URL: origin,
  OBSERVATORY_UPSTREAM_ANTHROPIC_KEY: key,
  OBSERVATORY_UPSTREAM_GEMINI_URL: origin,
  OBSERVATORY_UPSTREAM_GEMINI_KEY: key,
});

/** After `kill` or `stop`: on its port and in its folder. */
export async function startAgain(): Promise<void> {
  const { dataDir, url } = gateway;
  gateway = await startGateway({ dataDir, env: { ...env, PORT: new URL(url).port } });
}
