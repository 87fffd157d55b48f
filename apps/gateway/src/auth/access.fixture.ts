/** For specs: credentials, settings and an audit in memory, with the store's promises, and a whole access desk on them. */
import type {
  AgentKeyRow,
  AuditDraft,
  ControlCommit,
  ControlWrite,
  LoginRow,
  OperatorPrincipal,
  OperatorRow,
} from '#contracts';
import type { IdSource } from '#kernel';
import { FakeTime } from '#testing';
import { AccessDesk } from './access-desk.js';
import { Authenticator } from './authenticator.js';
import { type Bootstrap, bootstrapAccess } from './bootstrap.js';
import { CredentialDirectory } from './credential-directory.js';

export class FakeAccessStore {
  readonly keyRows = new Map<string, AgentKeyRow>();
  readonly operatorRows = new Map<string, OperatorRow>();
  readonly loginRows = new Map<string, LoginRow>();
  readonly values = new Map<string, unknown>();
  readonly audited: AuditDraft[] = [];
  keySaveCount = 0;

  async saveAgentKey(row: AgentKeyRow, audit?: AuditDraft): Promise<void> {
    this.keySaveCount += 1;
    if (audit) this.audited.push(audit);
    this.keyRows.set(row.key_id, row);
  }
  async deleteAgentKey(keyId: string): Promise<void> {
    this.keyRows.delete(keyId);
  }
  async agentKeys(): Promise<AgentKeyRow[]> {
    return structuredClone([...this.keyRows.values()]);
  }
  async saveOperator(row: OperatorRow, audit?: AuditDraft): Promise<void> {
    if (audit) this.audited.push(audit);
    this.operatorRows.set(row.token_id, row);
  }
  async deleteOperator(tokenId: string): Promise<void> {
    this.operatorRows.delete(tokenId);
  }
  async operators(): Promise<OperatorRow[]> {
    return structuredClone([...this.operatorRows.values()]);
  }
  async saveLogin(row: LoginRow): Promise<void> {
    this.loginRows.set(row.cookie_hash, row);
  }
  async deleteLogin(cookieHash: string): Promise<void> {
    this.loginRows.delete(cookieHash);
  }
  async logins(): Promise<LoginRow[]> {
    return structuredClone([...this.loginRows.values()]);
  }
  async settings(): Promise<Map<string, unknown>> {
    return new Map(this.values);
  }
  async saveSettings(values: ReadonlyMap<string, unknown>, audit?: AuditDraft): Promise<void> {
    for (const [key, value] of values) {
      if (value === undefined) this.values.delete(key);
      else this.values.set(key, value);
    }
    if (audit !== undefined) this.audited.push(audit);
  }
  async commitControl(write: ControlWrite): Promise<ControlCommit> {
    this.audited.push(...(write.audit ?? []));
    return { audit: [], released: [], has_more_held: false, rewritten: null };
  }
  async probe(): Promise<void> {}
}

/** Distinct texts as long as real ones. */
export function countingIds(): IdSource {
  let count = 0;
  return { next: (bytes = 16) => String(++count).padStart(Math.ceil((bytes * 8) / 6), '0') };
}

export const ADMIN: OperatorPrincipal = {
  kind: 'operator',
  operator_id: 'ada',
  role: 'admin',
  tenant_id: 'default',
  tenant_ids: ['*'],
  isInForce: () => true,
};

export interface AccessFixture {
  store: FakeAccessStore;
  clock: FakeTime;
  ids: IdSource;
  directory: CredentialDirectory;
  desk: AccessDesk;
  authenticator: Authenticator;
  bootstrap: Bootstrap;
}

/** Starts access as a gateway does. @param options.store of an earlier start */
export async function startAccess(
  options: {
    store?: FakeAccessStore;
    clock?: FakeTime;
    ids?: IdSource;
    secrets?: Partial<Bootstrap>;
    isOperatorTokenReset?: boolean;
    allowedOrigins?: string[];
  } = {},
): Promise<AccessFixture> {
  const { store = new FakeAccessStore(), clock = new FakeTime(), ids = countingIds() } = options;
  const directory = new CredentialDirectory({ store, clock, timer: clock });
  await directory.load();
  const desk = new AccessDesk({ directory, store, clock, ids, timer: clock });
  const bootstrap = await bootstrapAccess({
    directory,
    desk,
    clock,
    secrets: { operatorToken: null, agentKey: null, ...options.secrets },
    isOperatorTokenReset: options.isOperatorTokenReset ?? false,
  });
  const authenticator = new Authenticator({ directory, allowedOrigins: options.allowedOrigins ?? [] });
  return { store, clock, ids, directory, desk, authenticator, bootstrap };
}
