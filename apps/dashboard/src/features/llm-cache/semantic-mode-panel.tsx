/** What semantic matching does now, what else it could do, and how to switch. */
import { Link } from '@tanstack/react-router';
import { CACHE_SEMANTIC_MODES, type CacheStats } from '#contracts';
import { cx, Panel } from '../../ui';
import { formatCosine } from '../calls/cache-texts';
import { isWrongHitRate, MODE_TEXTS, modeAdvice } from './cache-stats';

export function SemanticModePanel({ stats }: { stats: CacheStats }) {
  const { semantic_mode, embedding_model, hit_when_cosine_at_least, wrong_hit_rate } = stats;
  return (
    <Panel title="Similar questions">
      <ul className="flex flex-col gap-1.5">
        {CACHE_SEMANTIC_MODES.map((mode) => (
          <li
            key={mode}
            aria-current={mode === semantic_mode ? 'true' : undefined}
            className={cx(
              'rounded-md border px-2.5 py-1.5',
              mode === semantic_mode ? 'border-accent bg-accent-soft' : 'border-line text-muted',
            )}
          >
            <span className="flex items-baseline justify-between gap-2">
              <span className={cx('font-medium', mode === semantic_mode && 'text-accent')}>
                {MODE_TEXTS[mode].label}
              </span>
              <code className="font-mono text-2xs">LLM_CACHE_SEMANTIC={mode}</code>
            </span>
            <span className="block text-xs">{MODE_TEXTS[mode].text}</span>
          </li>
        ))}
      </ul>
      <p className={cx('mt-2.5 text-xs', isWrongHitRate(wrong_hit_rate) && 'text-warning')}>
        {modeAdvice(stats)}{' '}
        {semantic_mode !== 'off' && embedding_model === null ? (
          <Link to="/system" className="font-medium text-accent hover:underline">
            System says whether it serves
          </Link>
        ) : null}
      </p>
      <p className="mt-2 text-muted text-xs">To switch, start the gateway with another of these variables.</p>
      {embedding_model === null ? null : (
        <p className="nums mt-2 text-muted text-xs">
          Compared by <span className="font-mono text-2xs [overflow-wrap:anywhere]">{embedding_model}</span>
          {hit_when_cosine_at_least === null
            ? '.'
            : `; a match from cosine ${formatCosine(hit_when_cosine_at_least)} on, where 1 is the same.`}
        </p>
      )}
    </Panel>
  );
}
