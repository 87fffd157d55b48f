/** Which Observatory this is, whether it is well, and who you are to it. */
import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useMe } from '../../api';
import { useConnection } from '../../realtime';
import { Badge, Fact, Panel, Skeleton } from '../../ui';

interface Health {
  isReady: boolean;
  /** Why not. */
  reasons: string[];
}

/** Not through `api`: a 503 here is an answer to show, and not a failure. */
async function readHealth(): Promise<Health> {
  const response = await fetch('/readyz', { headers: { accept: 'application/json' } });
  const answer = (await response.json().catch(() => ({}))) as { reasons?: string[] };
  return { isReady: response.ok, reasons: answer.reasons ?? [] };
}

async function readVersion(): Promise<string> {
  const response = await fetch('/v1/openapi.json');
  const { info } = (await response.json()) as { info: { version: string } };
  return info.version;
}

const HEALTH_INTERVAL_MS = 10_000;

const LINKS = [
  { href: '/docs', label: 'API documentation', note: 'Every route, with examples' },
  { href: '/v1/openapi.json', label: 'OpenAPI document', note: 'For code generators' },
  { href: '/metrics', label: 'Metrics', note: 'Prometheus text' },
];

export function AboutSection() {
  const me = useMe();
  const version = useQuery({
    queryKey: ['version'],
    queryFn: readVersion,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Gateway">
        <Facts>
          <Fact name="Version">
            {version.data ?? (version.isError ? 'unknown' : <Skeleton className="h-4 w-16" />)}
          </Fact>
          <Fact name="Health">
            <HealthBadge />
          </Fact>
          <Fact name="Live connection">
            <ConnectionBadge />
          </Fact>
          <Fact name="Address">
            <span className="font-mono text-xs [overflow-wrap:anywhere]">{window.location.origin}</span>
          </Fact>
        </Facts>
      </Panel>
      <Panel title="You">
        <Facts>
          <Fact name="Name">{me?.operator_id}</Fact>
          <Fact name="Role">{me?.role}</Fact>
          <Fact name="Tenant">{me?.tenant_id}</Fact>
          <Fact name="May">{me?.permissions.join(', ').replaceAll('_', ' ')}</Fact>
        </Facts>
      </Panel>
      <Panel title="For developers" bodyClassName="divide-y divide-line">
        {LINKS.map(({ href, label, note }) => (
          <a
            key={href}
            href={href}
            target="_blank"
            rel="noreferrer"
            className="focus-inset flex items-center gap-3 px-3 py-2.5 hover:bg-hover"
          >
            <span className="font-medium text-accent">{label}</span>
            <span className="text-muted text-xs">{note}</span>
            <ExternalLink size={13} aria-label="opens in a new tab" className="ml-auto text-faint" />
          </a>
        ))}
      </Panel>
    </div>
  );
}

function HealthBadge() {
  const { data, isError } = useQuery({
    queryKey: ['health'],
    queryFn: readHealth,
    refetchInterval: HEALTH_INTERVAL_MS,
    staleTime: 0,
  });
  if (isError) return <Badge tone="danger">Not answering</Badge>;
  if (!data) return <Skeleton className="h-4 w-16" />;
  return data.isReady ? (
    <Badge tone="success">Healthy</Badge>
  ) : (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Badge tone="danger">Not ready</Badge>
      {data.reasons.join(', ')}
    </span>
  );
}

function ConnectionBadge() {
  const { kind } = useConnection();
  return kind === 'connected' ? (
    <Badge tone="success">Connected</Badge>
  ) : (
    <Badge tone="warning">{kind}</Badge>
  );
}

const Facts = ({ children }: { children: ReactNode }) => (
  <dl className="grid grid-cols-[8rem_1fr] gap-y-2 max-md:grid-cols-[6rem_1fr]">{children}</dl>
);
