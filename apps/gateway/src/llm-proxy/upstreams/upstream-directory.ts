/**
 * Where calls go: the three vendors by default, what the environment adds or fixes, what operators add per tenant.
 * Holds keys; gives them to the forward step and to nobody else.
 */
import {
  ObservatoryError,
  type OperatorPrincipal,
  type ProxyStore,
  type SecretBox,
  type Upstream,
  type UpstreamKind,
} from '#contracts';
import { ChangeQueue, type Clock, changesOf, isMetadataAddress } from '#kernel';
import type { SettingsAudit } from '../../auth/settings-audit.js';
import { type EnvironmentUpstream, VENDOR_UPSTREAMS } from '../../config/upstreams.js';

/** An upstream, ready to be called. */
export interface UpstreamTarget {
  name: string;
  kind: UpstreamKind;
  baseUrl: string;
  origin: string;
  /** Path of the base URL without a trailing slash; "" for none. */
  basePath: string;
  /** Null: the caller's own key passes through. Never logged, never given out. */
  apiKey: string | null;
  source: Upstream['source'];
}

interface StoredUpstream {
  base_url: string;
  kind: UpstreamKind;
  sealed_key: string | null;
}

interface GivenUpstream {
  /** Undefined keeps it. */
  baseUrl: string | undefined;
  /** Undefined keeps it. */
  kind: UpstreamKind | undefined;
  /** Null removes it, undefined keeps it. */
  apiKey: string | null | undefined;
}

/** Upstreams one tenant may add. */
export const UPSTREAMS_PER_TENANT_MAX = 200;

export interface UpstreamDirectoryParts {
  environment: readonly EnvironmentUpstream[];
  store: Pick<ProxyStore, 'documents' | 'commitDocuments'>;
  audit: SettingsAudit;
  secrets: SecretBox;
  clock: Clock;
  onKeyLost: (name: string) => void;
}

export class UpstreamDirectory {
  readonly #parts: UpstreamDirectoryParts;
  /** Known to every tenant. */
  readonly #common = new Map<string, UpstreamTarget>();
  readonly #byTenant = new Map<string, Map<string, UpstreamTarget>>();
  /** Of one tenant: what a change leaves as it is, the key above all, is what the one before it left. */
  readonly #changes = new ChangeQueue<string>();
  /** Keys that were sealed with another secret, as they are stored: a start with the right one has them again. */
  readonly #unopened = new WeakMap<UpstreamTarget, string>();

  constructor(parts: UpstreamDirectoryParts) {
    this.#parts = parts;
    for (const [name, { baseUrl, kind }] of Object.entries(VENDOR_UPSTREAMS))
      this.#common.set(name, target({ name, kind, baseUrl, apiKey: null, source: 'default' }));
    for (const given of parts.environment) {
      const kind = given.kind ?? VENDOR_UPSTREAMS[given.name]?.kind ?? 'openai';
      this.#common.set(given.name, target({ ...given, kind, source: 'environment' }));
    }
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    for (const { tenant_id, id, body } of await this.#parts.store.documents('upstream')) {
      const { base_url, kind, sealed_key } = body as StoredUpstream;
      const apiKey = sealed_key === null ? null : this.#unseal(sealed_key, id);
      const known = target({ name: id, kind, baseUrl: base_url, apiKey, source: 'settings' });
      if (sealed_key !== null && apiKey === null) this.#unopened.set(known, sealed_key);
      this.#of(tenant_id).set(id, known);
    }
  }

  /** Hot path. What the environment fixes wins; then the tenant's own; then the default. */
  find(tenantId: string, name: string): UpstreamTarget | null {
    const common = this.#common.get(name);
    if (common?.source === 'environment') return common;
    return this.#byTenant.get(tenantId)?.get(name) ?? common ?? null;
  }

  list(tenantId: string): Upstream[] {
    const names = new Set([...this.#common.keys(), ...(this.#byTenant.get(tenantId)?.keys() ?? [])]);
    return [...names].sort().map((name) => view(this.find(tenantId, name) as UpstreamTarget));
  }

  /** A change of nothing writes nothing. Rejects as the store does: then nothing has changed. */
  put(by: OperatorPrincipal, name: string, given: GivenUpstream): Promise<Upstream> {
    return this.#changes.run(by.tenant_id, () => this.#put(by, name, given));
  }

  /** Rejects as the store does: then nothing has changed. */
  remove(by: OperatorPrincipal, name: string): Promise<void> {
    const { tenant_id: tenantId } = by;
    const { store, audit } = this.#parts;
    return this.#changes.run(tenantId, async () => {
      this.#requireOurs(name);
      const own = this.#byTenant.get(tenantId);
      if (!own?.has(name)) throw new ObservatoryError('upstream_not_found');
      await store.commitDocuments({
        deleted: [{ tenant_id: tenantId, kind: 'upstream', id: name }],
        audit: [audit.draft(by, tenantId, 'upstream.delete', { name })],
      });
      own.delete(name);
    });
  }

  async #put(by: OperatorPrincipal, name: string, given: GivenUpstream): Promise<Upstream> {
    const { tenant_id: tenantId } = by;
    this.#requireOurs(name);
    const own = this.#of(tenantId);
    const known = own.get(name);
    if (known === undefined && own.size >= UPSTREAMS_PER_TENANT_MAX)
      throw new ObservatoryError(
        'invalid_request',
        `A tenant has at most ${UPSTREAMS_PER_TENANT_MAX} upstreams.`,
      );
    const baseUrl = given.baseUrl ?? known?.baseUrl ?? this.#common.get(name)?.baseUrl;
    if (baseUrl === undefined) throw new ObservatoryError('upstream_not_found');
    const { username, password, search, hash, hostname } = new URL(baseUrl);
    if (username || password || search || hash) {
      throw new ObservatoryError('invalid_fields', 'base_url: leave out credentials, query and fragment.', {
        fields: ['base_url'],
      });
    }
    if (isMetadataAddress(hostname)) {
      throw new ObservatoryError(
        'invalid_fields',
        'base_url: link-local addresses and metadata services are no upstreams; give the address of a model server.',
        { fields: ['base_url'] },
      );
    }
    const kind = given.kind ?? known?.kind ?? VENDOR_UPSTREAMS[name]?.kind ?? 'openai';
    // A key is kept for the place it was given for: it must not follow a base URL that somebody moves elsewhere.
    const isMoved = known !== undefined && new URL(known.baseUrl).origin !== new URL(baseUrl).origin;
    const kept = given.apiKey === undefined && !isMoved ? known : undefined;
    const apiKey = given.apiKey ?? kept?.apiKey ?? null;
    const unopened = kept && this.#unopened.get(kept);
    const next = target({ name, kind, baseUrl, apiKey, source: 'settings' });
    const isKept = known !== undefined && unopened === this.#unopened.get(known);
    if (isKept && Object.keys(changesOf(next, known)).length === 0) return view(known);
    const body: StoredUpstream = {
      base_url: next.baseUrl,
      kind,
      sealed_key: apiKey === null ? (unopened ?? null) : this.#parts.secrets.seal(apiKey),
    };
    const { store, audit, clock } = this.#parts;
    const upstream = view(next);
    const { base_url, key } = upstream;
    await store.commitDocuments({
      saved: [{ tenant_id: tenantId, kind: 'upstream', id: name, body, updated_at_ms: clock.nowMs() }],
      audit: [audit.draft(by, tenantId, 'upstream.update', { name, base_url, key })],
    });
    if (unopened !== undefined) this.#unopened.set(next, unopened);
    own.set(name, next);
    return upstream;
  }

  #of(tenantId: string): Map<string, UpstreamTarget> {
    const known = this.#byTenant.get(tenantId);
    if (known !== undefined) return known;
    const own = new Map<string, UpstreamTarget>();
    this.#byTenant.set(tenantId, own);
    return own;
  }

  /** A key that was sealed with another secret is not to be had; its upstream goes on without, and says so. */
  #unseal(sealedKey: string, name: string): string | null {
    try {
      return this.#parts.secrets.open(sealedKey);
    } catch {
      this.#parts.onKeyLost(name);
      return null;
    }
  }

  #requireOurs(name: string): void {
    if (this.#common.get(name)?.source !== 'environment') return;
    throw new ObservatoryError(
      'invalid_request',
      `${name} is fixed by the environment (OBSERVATORY_UPSTREAM_${variableName(name)}_URL or _KEY); change it there.`,
    );
  }
}

/** `my-vllm` -> `MY_VLLM` */
export const variableName = (name: string): string => name.toUpperCase().replaceAll('-', '_');

function target(given: Omit<UpstreamTarget, 'origin' | 'basePath'>): UpstreamTarget {
  const { origin, pathname } = new URL(given.baseUrl);
  return { ...given, origin, basePath: pathname.replace(/\/+$/, '') };
}

const view = ({ name, kind, baseUrl, apiKey, source }: UpstreamTarget): Upstream => ({
  name,
  kind,
  base_url: baseUrl,
  key: apiKey === null ? 'caller' : 'ours',
  source,
});

/** Stands in until the caller is known: shapes a refusal by the vendor its path names. */
export function unknownUpstreamTarget(name: string): UpstreamTarget {
  const kind = VENDOR_UPSTREAMS[name]?.kind ?? 'openai';
  return { name, kind, baseUrl: '', origin: '', basePath: '', apiKey: null, source: 'default' };
}
