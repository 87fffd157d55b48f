/** Whom most models are about, and what is told of it live: tenants of a name that is another in every run. */
import { io, type Socket } from 'socket.io-client';
import type { GatewayTopic } from '#contracts';
import { OPERATOR_TOKEN } from '../start-gateway.js';

type Json = Record<string, any>;

export const TENANTS = ['red', 'blue'] as const;
export type TenantName = (typeof TENANTS)[number];
/** The second of `red` has the name of `blue`'s only one. */
export const AGENTS = [
  { of: 'red', name: 'one' },
  { of: 'red', name: 'both' },
  { of: 'blue', name: 'both' },
] as const;

/** What a live topic has told of each thing last, by its id. */
export class LiveThings {
  readonly red = new Map<string, Json>();
  readonly blue = new Map<string, Json>();
  readonly #sockets: Socket[] = [];

  constructor(
    private readonly topic: GatewayTopic,
    private readonly idOf: (thing: Json) => string,
  ) {}

  /** From the snapshot on, and of nothing that was told before. */
  watch(url: string, tenantOf: (of: TenantName) => string): void {
    this.stop();
    for (const of of TENANTS) {
      const auth = { token: OPERATOR_TOKEN, tenant_id: tenantOf(of) };
      const socket = io(`${url}/live`, { auth, transports: ['websocket'], reconnection: false });
      const keep = (thing: Json) => this[of].set(this.idOf(thing), thing);
      this[of].clear();
      socket.on('frame', ({ events }) => events.forEach(({ payload }: Json) => void keep(payload)));
      socket.emit('subscribe', { topic: this.topic }, ({ snapshot }: Json) => snapshot.forEach(keep));
      this.#sockets.push(socket);
    }
  }

  stop(): void {
    for (const socket of this.#sockets.splice(0)) socket.close();
  }
}
