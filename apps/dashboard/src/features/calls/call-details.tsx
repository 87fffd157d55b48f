/** Everything that is kept of one call: where its time went, what it used, what it cost. Never its text. */
import { Link } from '@tanstack/react-router';
import { Bot, ScanSearch } from 'lucide-react';
import type { ReactNode } from 'react';
import { type LlmCall, reachedUpstream } from '#contracts';
import {
  Callout,
  CutMiddle,
  cx,
  Fact,
  formatCost,
  formatCount,
  formatDuration,
  formatScore,
  Identifier,
  RelativeTime,
} from '../../ui';
import { CallCacheFacts } from './call-cache';
import { CallLoop, isLoopingCall } from './call-loop';
import { CallCost } from './call-row';
import { isFailedCall } from './calls-search';
import { whatBecameOf } from './decision-texts';
import { WaterfallChart } from './waterfall-chart';

const linkClass =
  'inline-flex h-8 min-w-0 items-center gap-1.5 rounded-md border border-line-strong bg-raised px-2.5 font-medium text-xs hover:bg-hover max-md:h-10';

export function CallDetails({ call }: { call: LlmCall }) {
  return (
    <div data-testid="call-details" data-call-id={call.call_id} className="flex flex-col gap-4">
      {(call.detail || call.decision !== 'forwarded') && !call.cache ? (
        <Callout tone={isFailedCall(call) || call.decision === 'killed' ? 'danger' : 'neutral'}>
          {whatBecameOf(call)}
        </Callout>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Link to="/sessions/$sessionId" params={{ sessionId: call.session_id }} className={linkClass}>
          <ScanSearch size={13} aria-hidden="true" className="shrink-0" />
          Session
        </Link>
        <Link to="/agents/$agentId" params={{ agentId: call.agent_id }} className={linkClass}>
          <Bot size={13} aria-hidden="true" className="shrink-0" />
          <CutMiddle text={call.agent_id} />
        </Link>
      </div>
      {call.cache ? (
        <Part title="From the cache">
          <CallCacheFacts cache={call.cache} />
        </Part>
      ) : null}
      {isLoopingCall(call) ? (
        <Part title="Semantic loop">
          <CallLoop call={call} />
        </Part>
      ) : null}
      <Part title="Where the time went">
        <WaterfallChart call={call} />
      </Part>
      <Part title="Usage and cost">
        <UsageTable call={call} />
        <p className="nums mt-1.5 flex items-baseline justify-between border-line border-t pt-1.5 text-xs">
          <span className="text-muted">Cost</span>
          <span className="font-semibold text-base">
            <CallCost call={call} />
          </span>
        </p>
      </Part>
      {call.tool_calls.length > 0 ? (
        <Part title="Tool calls of the answer">
          <ul className="flex flex-col gap-1 text-xs">
            {call.tool_calls.map(({ name, arguments_hash }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an immutable list; the same call may occur twice.
              <li key={index} className="flex min-w-0 items-baseline gap-2">
                <span className="truncate font-medium font-mono">{name}</span>
                <span className="ml-auto shrink-0 font-mono text-2xs text-muted" title={arguments_hash}>
                  arguments {arguments_hash.replace(/^sha256:/, '').slice(0, 10)}
                </span>
              </li>
            ))}
          </ul>
        </Part>
      ) : null}
      <Part title="Call">
        <CallFacts call={call} />
      </Part>
    </div>
  );
}

function CallFacts({ call }: { call: LlmCall }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] items-center gap-x-4 gap-y-1 text-xs">
      <Fact name="Call">
        <Identifier id={call.call_id} charsMax={30} kind="call id" />
      </Fact>
      <Fact name="Session">
        <Identifier id={call.session_id} charsMax={30} kind="session id" />
      </Fact>
      <Fact name="Started">
        <RelativeTime atMs={call.started_at_ms} />
      </Fact>
      <Fact name="Took">{formatDuration(call.duration_ms)}</Fact>
      <Fact name="First byte">
        {call.first_byte_ms === null ? 'none came' : `after ${formatDuration(call.first_byte_ms)}`}
      </Fact>
      {call.held_ms > 0 ? <Fact name="Held">{formatDuration(call.held_ms)} for an operator</Fact> : null}
      <Fact name="Status">{call.status || 'none'}</Fact>
      <Fact name="Model">{call.model ?? 'not named'}</Fact>
      <Fact name="Upstream">
        {call.upstream}
        {call.dialect === call.upstream ? '' : `, ${call.dialect ?? 'passed through'}`}
        {call.stream ? ', streaming' : ''}
      </Fact>
      <Fact name="Request">
        <span className="font-mono text-2xs [overflow-wrap:anywhere]">
          {call.method} {call.path}
        </span>
      </Fact>
      <Fact name="Kill switch">
        {call.kill_score === null ? 'did not look' : `score ${formatScore(call.kill_score)}`}
      </Fact>
      {call.is_retry ? <Fact name="Retry">the client tried again</Fact> : null}
      {call.trace_parent ? (
        <Fact name="Trace">
          <Identifier id={call.trace_parent} charsMax={30} kind="traceparent" />
        </Fact>
      ) : null}
    </dl>
  );
}

function UsageTable({ call }: { call: LlmCall }) {
  const { usage } = call;
  if (!usage) {
    return (
      <p className="text-muted text-xs">
        {reachedUpstream(call)
          ? `The upstream reported no usage${call.cost_usd ? ': the cost is an estimate' : ''}.`
          : call.cache
            ? 'None: the answer came from the cache.'
            : 'None: it never reached the upstream.'}
      </p>
    );
  }
  const lines: [string, number, boolean?][] = [
    ['Input', usage.input_tokens],
    ['read from the vendor’s cache', usage.cached_input_tokens, true],
    ['written to the vendor’s cache', usage.cache_write_tokens, true],
    ['written there for an hour', usage.cache_write_hour_tokens ?? 0, true],
    ['Output', usage.output_tokens],
    ['reasoning', usage.reasoning_tokens, true],
  ];
  return (
    <dl className="nums text-xs">
      {lines
        .filter(([, count, isPart]) => !isPart || count > 0)
        .map(([name, count, isPart]) => (
          <div key={name} className={cx('flex justify-between py-0.5', isPart && 'pl-4 text-muted')}>
            <dt className={isPart ? undefined : 'text-muted'}>
              {isPart ? `of which ${name}` : `${name} tokens`}
            </dt>
            <dd>{formatCount(count)}</dd>
          </div>
        ))}
      {usage.search_count !== undefined && (
        <div className="flex justify-between py-0.5">
          <dt className="text-muted">Web searches by the vendor</dt>
          <dd>{formatCount(usage.search_count)}</dd>
        </div>
      )}
      {usage.file_search_count !== undefined && (
        <div className="flex justify-between py-0.5">
          <dt className="text-muted">File searches by the vendor</dt>
          <dd>{formatCount(usage.file_search_count)}</dd>
        </div>
      )}
      {usage.charged_usd !== undefined && (
        <div className="flex justify-between py-0.5">
          <dt className="text-muted">Charged, as the vendor says</dt>
          <dd>{formatCost(usage.charged_usd)}</dd>
        </div>
      )}
    </dl>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 font-medium text-2xs text-muted">{title}</h3>
      {children}
    </section>
  );
}
