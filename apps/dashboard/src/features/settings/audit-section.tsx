/** Who did what: append-only, chained by hashes, to read, to check and to take away. */
import { useMutation } from '@tanstack/react-query';
import { Download, ShieldAlert, ShieldCheck } from 'lucide-react';
import { Fragment, useState } from 'react';
import type { AuditEntry, AuditVerification } from '#contracts';
import { api, isOnItsWay, usePages } from '../../api';
import {
  Badge,
  Button,
  Callout,
  CodeBlock,
  EmptyState,
  ListFoot,
  Panel,
  plural,
  RelativeTime,
  Skeleton,
  Table,
  Td,
  Th,
} from '../../ui';
import { AuditConcerning } from './audit-concerning';

const PAGE_ROWS = 50;

export function AuditSection() {
  const pages = usePages<AuditEntry>({ queryKey: ['audit'], path: '/v1/audit', pageRows: PAGE_ROWS });
  const { items: entries, failure, hasMore, isLoadingMore, loadMore } = pages;
  return (
    <div className="flex flex-col gap-4">
      <VerifyBar />
      {failure ? <Callout tone="danger">{failure}</Callout> : null}
      {isOnItsWay(pages) ? <Skeleton className="h-64 w-full" /> : null}
      {entries ? (
        <Panel title="Entries" bodyClassName="">
          {entries.length === 0 ? (
            <EmptyState title="Nothing has been done yet">
              Every command and every change of settings or access will be listed here.
            </EmptyState>
          ) : (
            <>
              <AuditTable entries={entries} />
              <ListFoot
                text={`${plural(entries.length, 'entry', 'entries')} shown`}
                hasMore={hasMore}
                isLoading={isLoadingMore}
                onLoad={loadMore}
              />
            </>
          )}
        </Panel>
      ) : null}
    </div>
  );
}

function VerifyBar() {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => api.get<AuditVerification>('/v1/audit/verify'),
  });
  return (
    <Panel title="Integrity" bodyClassName="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="mr-auto max-w-prose text-muted">
          Each entry holds the hash of the one before, so a changed or missing entry breaks the chain.
        </p>
        <Button
          data-testid="audit-verify"
          busy={isPending}
          icon={<ShieldCheck size={14} aria-hidden="true" />}
          onClick={() => mutate()}
        >
          Verify chain
        </Button>
        <a
          href="/v1/audit/export"
          download
          className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-raised px-3 font-medium hover:bg-hover"
        >
          <Download size={14} aria-hidden="true" />
          Export JSONL
        </a>
      </div>
      <div role="status" className="empty:hidden">
        {data ? <Verdict verdict={data} /> : null}
      </div>
      {error ? (
        <Callout tone="danger" alert>
          {error.message}
        </Callout>
      ) : null}
    </Panel>
  );
}

function Verdict({ verdict }: { verdict: AuditVerification }) {
  return verdict.ok ? (
    <p className="flex items-center gap-2 font-medium text-success">
      <ShieldCheck size={16} aria-hidden="true" />
      The chain is whole: {plural(verdict.entry_count, 'entry', 'entries')} checked just now.
    </p>
  ) : (
    <Callout tone="danger" icon={<ShieldAlert size={16} aria-hidden="true" />}>
      The chain is broken at entry {verdict.broken_at_seq}: it, or what came before, was changed after it was
      written.
    </Callout>
  );
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const [openSeq, setOpenSeq] = useState<number | null>(null);
  return (
    <Table className="text-xs">
      <thead>
        <tr>
          <Th>#</Th>
          <Th>When</Th>
          <Th>Operator</Th>
          <Th>Action</Th>
          <Th className="max-md:hidden">Concerning</Th>
          <Th className="max-md:hidden">Outcome</Th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Fragment key={entry.seq}>
            <tr data-testid="audit-row" className="hover:bg-hover">
              <Td className="nums text-muted">{entry.seq}</Td>
              <Td className="whitespace-nowrap">
                <RelativeTime atMs={entry.at_ms} />
              </Td>
              <Td className="max-w-28 truncate font-medium" title={`${entry.operator_id}, ${entry.role}`}>
                {entry.operator_id}
              </Td>
              {/* On a phone it has the room that the others leave, and no more: what it holds is cut or wrapped. */}
              <Td className="max-md:w-full max-md:max-w-0">
                <button
                  type="button"
                  aria-expanded={openSeq === entry.seq}
                  onClick={() => setOpenSeq(openSeq === entry.seq ? null : entry.seq)}
                  className="max-w-full text-left font-mono text-accent [overflow-wrap:anywhere] hover:underline"
                >
                  {entry.action}
                </button>
                {/* On a phone there is no room for columns of their own. */}
                <div className="mt-0.5 flex flex-col items-start gap-1 text-muted [overflow-wrap:anywhere] md:hidden">
                  <AuditConcerning entry={entry} />
                  <Outcome entry={entry} />
                </div>
              </Td>
              <Td className="max-w-64 text-muted max-md:hidden">
                <AuditConcerning entry={entry} />
              </Td>
              <Td className="max-md:hidden">
                <Outcome entry={entry} />
              </Td>
            </tr>
            {openSeq === entry.seq ? (
              <tr>
                <Td colSpan={6} className="!p-2">
                  <CodeBlock code={JSON.stringify(entry, null, 2)} label={`audit entry ${entry.seq}`} />
                </Td>
              </tr>
            ) : null}
          </Fragment>
        ))}
      </tbody>
    </Table>
  );
}

const Outcome = ({ entry: { outcome } }: { entry: AuditEntry }) => (
  <Badge tone={outcome === 'ok' ? 'success' : 'neutral'}>{outcome}</Badge>
);
