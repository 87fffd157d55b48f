/** Two gateways on one Redis, as an operator sees them: what each shows, and when each has heard the other. */
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { soon } from './run-model.js';

export const SIDES = ['a', 'b'] as const;
export type Side = (typeof SIDES)[number];
export const other = (side: Side): Side => (side === 'a' ? 'b' : 'a');

export class TwoGateways {
  #mark = 0;

  constructor(
    readonly tenant: string,
    /** As they run now. */
    readonly urlOf: (side: Side) => string,
  ) {}

  as = (side: Side): RunningGateway['operator'] =>
    operatorAt(this.urlOf(side), OPERATOR_TOKEN, 'ada', this.tenant);

  async look(side: Side, path: string): Promise<Record<string, any>> {
    return (await this.as(side)('GET', path)).body;
  }

  /** Each has heard all that the other was told, for a word behind it is in force. */
  async exchange(): Promise<void> {
    this.#mark += 1;
    const mark = { session_calls_max: this.#mark };
    for (const side of SIDES) await this.as(side)('PATCH', `/v1/agents/mark-${side}/policy`, mark);
    for (const side of SIDES)
      await soon(() => this.look(side, `/v1/agents/mark-${other(side)}/policy`)).toMatchObject(mark);
  }

  /** What it is to tell stands in Redis. */
  async isConnected(side: Side): Promise<void> {
    await soon(async () => (await this.look(side, '/v1/system')).redis.connected).toBe(true);
    await soon(async () => {
      const response = await fetch(`${this.urlOf(side)}/metrics`, {
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'x-observatory-operator-id': 'ada' },
      });
      return /^observatory_shared_control_words_waiting (\d+)$/m.exec(await response.text())?.[1];
    }).toBe('0');
  }
}
