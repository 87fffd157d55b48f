/** One semantic match: both questions, how alike, what came of it, and the operator's word on it. */
import { Link } from '@tanstack/react-router';
import { Check, X } from 'lucide-react';
import type { SemanticMatch } from '#contracts';
import { useDenial } from '../../api';
import { Badge, Button, RelativeTime, SinceNote, truncateMiddle, withUnseen } from '../../ui';
import { formatCosine } from '../calls/cache-texts';
import { TextPair } from '../compared-texts/text-pair';
import { useVerdict } from './use-cache';

const PROMPT_CHARS_NAMED = 80;
/** For who hears the buttons without what stands around them. */
const nameOf = ({ prompt }: SemanticMatch): string => `“${truncateMiddle(prompt, PROMPT_CHARS_NAMED)}”`;

export function MatchRow({ match }: { match: SemanticMatch }) {
  return (
    <article
      data-testid="semantic-match"
      aria-label={`Match of ${match.agent_id}, cosine ${formatCosine(match.cosine)}`}
      className="flex flex-col gap-2 px-3 py-3"
    >
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="nums font-semibold" title="Cosine of both questions: 1 is the same">
          {formatCosine(match.cosine)}
        </span>
        <Badge tone={match.served ? 'accent' : 'neutral'}>{match.served ? 'Served' : 'Shadow'}</Badge>
        <Agreement match={match} />
        <span className="min-w-0 truncate text-muted text-xs">
          <Link
            to="/agents/$agentId"
            params={{ agentId: match.agent_id }}
            className="font-medium text-fg hover:underline"
          >
            {withUnseen(match.agent_id)}
          </Link>
          {match.model ? ` · ${match.model}` : ''}
        </span>
        <span className="ml-auto shrink-0 text-muted text-xs">
          <RelativeTime atMs={match.at_ms} />
        </span>
      </div>
      <TextPair
        marks="differences"
        texts={[
          { title: 'Answered before', text: match.matched_prompt },
          {
            title: 'Asked now',
            text: match.prompt,
            aside: (
              <Link
                to="/calls/$callId"
                params={{ callId: match.call_id }}
                aria-label={`The call that asked ${nameOf(match)}`}
                className="shrink-0 text-accent hover:underline"
              >
                The call
              </Link>
            ),
          },
        ]}
      />
      <Verdict match={match} />
    </article>
  );
}

function Agreement({ match: { served, agreed } }: { match: SemanticMatch }) {
  if (agreed === true) {
    return (
      <Badge tone="success" title="The upstream’s own answer said the same.">
        Agreed
      </Badge>
    );
  }
  if (agreed === false) {
    return (
      <Badge tone="danger" title="The upstream’s own answer said something else.">
        Differed
      </Badge>
    );
  }
  return served ? null : <Badge title="Both answers could not be compared.">Not compared</Badge>;
}

function Verdict({ match }: { match: SemanticMatch }) {
  const denial = useDenial('command');
  const { mutate, isPending, variables, error } = useVerdict(match.match_id);
  const { verdict, verdict_by } = match;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="text-muted text-xs">
        {verdict === null ? (
          'Does the earlier answer fit the question of now?'
        ) : (
          <>
            {verdict_by ?? 'Somebody'} said{' '}
            <span className={verdict === 'wrong' ? 'font-medium text-danger' : 'font-medium text-success'}>
              {verdict}
            </span>
            {verdict === 'wrong' ? ', and the entry is gone' : ''}
          </>
        )}
      </span>
      <span className="ml-auto flex gap-1.5 max-md:ml-0 max-md:w-full max-md:*:flex-1">
        <Button
          size="sm"
          aria-label={`Right for ${nameOf(match)}`}
          icon={<Check size={13} aria-hidden="true" />}
          busy={isPending && variables === 'right'}
          disabledReason={denial ?? (verdict === 'right' ? 'Marked as right already.' : null)}
          onClick={() => mutate('right')}
          className="max-md:h-10"
        >
          Right
        </Button>
        <Button
          size="sm"
          variant="danger-quiet"
          aria-label={`Wrong for ${nameOf(match)}`}
          icon={<X size={13} aria-hidden="true" />}
          title="Removes the entry, so that nobody gets it again"
          busy={isPending && variables === 'wrong'}
          disabledReason={denial ?? (verdict === 'wrong' ? 'Marked as wrong already.' : null)}
          onClick={() => mutate('wrong')}
          className="max-md:h-10"
        >
          Wrong
        </Button>
      </span>
      {error ? (
        <p role="alert" className="w-full text-danger text-xs">
          Not marked: {error.message}
          <SinceNote />
        </p>
      ) : null}
    </div>
  );
}
