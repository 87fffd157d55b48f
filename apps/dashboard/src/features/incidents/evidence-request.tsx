/**
 * One request of an incident's evidence with its answer and its tool calls. Marked is what the stopped request and the earlier
 * ones have in common, on both sides. Texts are redacted and cut by the gateway.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { IncidentEvidence } from '#contracts';
import { Badge, cx, formatClock, formatScore, plural, RelativeTime, useNow } from '../../ui';
import { EmphasisedText } from '../compared-texts/emphasised-text';
import { EvidenceToolCalls } from './evidence-tool-calls';
import { type EvidenceView, pointsOf } from './score';

interface EvidenceProps {
  evidence: IncidentEvidence;
  view: EvidenceView;
}

export function EvidenceRequest({ evidence, view }: EvidenceProps) {
  const isStopped = evidence === view.stopped;
  return (
    <article
      data-testid="evidence"
      data-call-id={evidence.call_id}
      className={cx('px-3 py-2.5', !isStopped && pointsOf(evidence) === 0 && 'opacity-75')}
    >
      <EvidenceHead evidence={evidence} isStopped={isStopped} />
      {/* Beside each other where both have room for a sentence. */}
      <div className="mt-1 grid grid-cols-[repeat(auto-fit,minmax(min(15rem,100%),1fr))] gap-x-4 gap-y-2">
        <Content evidence={evidence} view={view} />
        {isStopped ? <NoAnswer view={view} /> : <Answer evidence={evidence} view={view} />}
      </div>
    </article>
  );
}

function EvidenceHead({ evidence, isStopped }: { evidence: IncidentEvidence; isStopped: boolean }) {
  const points = pointsOf(evidence);
  const clock = useNow((nowMs) => formatClock(evidence.at_ms, nowMs));
  return (
    <div className="flex min-h-5 items-center gap-3">
      {isStopped ? null : (
        <span className={cx('nums font-semibold text-md', points === 0 && 'text-faint')}>
          +{formatScore(points)}
          <span className="ml-1 font-normal text-muted text-xs">{points === 1 ? 'point' : 'points'}</span>
        </span>
      )}
      <span className="text-muted text-xs">
        <RelativeTime atMs={evidence.at_ms} />
      </span>
      <Link
        to="/calls/$callId"
        params={{ callId: evidence.call_id }}
        aria-label={`The call at ${clock}`}
        className="text-accent text-xs hover:underline"
      >
        The call
      </Link>
    </div>
  );
}

/** What the request brought: a prompt, results of tool calls, or both. What makes it similar is said of whichever comes first. */
function Content({ evidence, view }: EvidenceProps) {
  const { prompt, tool_calls, repeated_tool_call_count } = evidence;
  const isStopped = evidence === view.stopped;
  const isSimilar = evidence.is_similar_prompt && !isStopped;
  const similar = isSimilar ? <Badge tone="accent">similar</Badge> : null;
  const distance = distanceText(evidence.prompt_distance);
  const hasPrompt = prompt !== '' || tool_calls.length === 0;
  const reference = isSimilar ? (view.stopped?.prompt ?? '') : null;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {hasPrompt ? (
        <Part title="Prompt" mark={similar} note={distance}>
          <Words
            text={prompt}
            none="No text of its own"
            reference={isStopped ? view.similarPrompts : reference}
            tone="prompt"
          />
        </Part>
      ) : null}
      {tool_calls.length > 0 ? (
        <Part
          title={isStopped ? 'Tool calls in this turn' : 'Tool calls'}
          mark={
            <>
              {hasPrompt ? null : similar}
              {repeated_tool_call_count > 0 && !isStopped ? (
                <Badge tone="warning">{repeated_tool_call_count} repeated</Badge>
              ) : null}
            </>
          }
          note={isSimilar && !hasPrompt ? distance : null}
        >
          <EvidenceToolCalls evidence={evidence} view={view} />
        </Part>
      ) : null}
    </div>
  );
}

function Answer({ evidence, view }: EvidenceProps) {
  const isReference = evidence === view.reference;
  const reference = evidence.is_similar_response ? (view.reference?.response ?? '') : null;
  return (
    <Part
      title="Answer"
      mark={evidence.is_similar_response ? <Badge tone="paused">similar</Badge> : null}
      note={isReference ? 'which the others are compared with' : null}
    >
      <Words
        text={evidence.response}
        none={evidence.response === null ? 'None' : 'No text'}
        reference={isReference ? view.similarResponses : reference}
        tone="response"
      />
    </Part>
  );
}

/** What was stopped has no answer. Below that stands the one that the similar ones are compared with. */
function NoAnswer({ view: { reference, similarResponses } }: { view: EvidenceView }) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Part title="Answer">
        <Nothing>None: it never reached the upstream</Nothing>
      </Part>
      {reference ? (
        <Part title="Latest answer to a similar prompt">
          <Words text={reference.response} none="No text" reference={similarResponses} tone="response" />
        </Part>
      ) : null}
    </div>
  );
}

const distanceText = (bits: number | null): string | null =>
  bits === null ? null : bits === 0 ? 'same fingerprint' : `${plural(bits, 'bit')} of 64 apart`;

interface PartProps {
  title: string;
  /** Why it counts. */
  mark?: ReactNode;
  note?: string | null;
  children: ReactNode;
}

function Part({ title, mark = null, note = null, children }: PartProps) {
  return (
    <div className="min-w-0">
      <p className="mb-0.5 flex min-h-5 flex-wrap items-center gap-1.5 text-2xs text-muted">
        {title}
        {mark}
        {note ? <span className="text-faint">{note}</span> : null}
      </p>
      {children}
    </div>
  );
}

interface WordsProps {
  text: string | null;
  /** In place of an empty text. */
  none: string;
  reference: string | readonly string[] | null;
  tone: 'prompt' | 'response';
}

const Words = ({ text, none, reference, tone }: WordsProps) =>
  text ? <EmphasisedText text={text} reference={reference} tone={tone} /> : <Nothing>{none}</Nothing>;

const Nothing = ({ children }: { children: ReactNode }) => <p className="text-faint text-xs">{children}</p>;
