/**
 * What gateways that share one Redis tell each other of control: whatever is commanded at one of them is in force at all. Each word
 * is a command that took effect where it was given, so that it is obeyed by the rules that hold for every command.
 */
import { z } from 'zod';
import { agentPolicyPatchSchema } from './agent-policy.js';
import { ROLES } from './auth.js';
import { commandBodySchemas } from './hitl.js';
import { ALL_AGENTS } from './identity.js';
import { killSwitchPatchSchema } from './kill-switch.js';
import { LIMITS } from './limits.js';

const id = z.string().min(1).max(LIMITS.idCharsMax);
const { pause, resume, inject, terminate } = commandBodySchemas;

/** A rewrite is none of them: it changes a message that one gateway holds. */
const sharedCommandSchema = z.discriminatedUnion('command', [
  pause.extend({ command: z.literal('pause') }),
  resume.extend({ command: z.literal('resume') }),
  inject.extend({ command: z.literal('inject') }),
  terminate.extend({ command: z.literal('terminate') }),
]);

const controlActSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('command'),
    session_id: id,
    command: sharedCommandSchema,
    /** The same everywhere, so that guidance that a model has heard is taken back everywhere. */
    directive_id: id,
  }),
  /** The agent stands still there: the pause that was requested is one. */
  z.object({ kind: z.literal('acknowledged'), session_id: id }),
  /** A model was given these words there. */
  z.object({ kind: z.literal('guided'), session_id: id, directive_ids: z.array(id) }),
  z.object({
    kind: z.literal('policy'),
    agent_id: id.or(z.literal(ALL_AGENTS)),
    patch: agentPolicyPatchSchema,
  }),
  z.object({ kind: z.literal('kill_switch'), agent_id: id, patch: killSwitchPatchSchema }),
  /** The kill switch fired there, where its evidence stays. */
  z.object({
    kind: z.literal('killed'),
    agent_id: id,
    incident: z.object({
      incident_id: id,
      session_id: z.string(),
      at_ms: z.number(),
      threshold: z.number(),
      breakdown: z.object({ score: z.number() }),
    }),
  }),
]);
export type ControlAct = z.infer<typeof controlActSchema>;
export type SessionAct = Extract<ControlAct, { session_id: string }>;
export type AgentAct = Extract<ControlAct, { agent_id: string }>;

export const controlWordSchema = z.object({
  tenant_id: id,
  /** An operator, or the gateway itself. */
  operator_id: z.string().min(1),
  role: z.enum([...ROLES, 'system']),
  act: controlActSchema,
});
export type ControlWord = z.infer<typeof controlWordSchema>;

/** Hands a word to all other gateways, behind. Never throws. */
export type TellGateways = (word: ControlWord) => void;
