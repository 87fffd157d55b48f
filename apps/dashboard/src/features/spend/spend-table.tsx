/** Spend per agent, model or day, with each line's share of the whole. */
import { Link } from '@tanstack/react-router';
import { ListFilter } from 'lucide-react';
import type { SpendLine } from '#contracts';
import {
  CutMiddle,
  cx,
  formatCost,
  formatCount,
  formatPartialCost,
  formatShare,
  formatTokens,
  plural,
  Table,
  Td,
  Th,
} from '../../ui';
import { bucketLabel, orderLines, othersOf, type SpendTotals, totalsOf } from './spend-range';
import type { SpendSearch, SpendTable as SpendTableBy } from './spend-search';

const KEY_HEADS: Record<SpendTableBy, string> = { agent: 'Agent', model: 'Model', day: 'Day, UTC' };

interface SpendTableProps {
  by: SpendTableBy;
  lines: readonly SpendLine[];
  /** Of all there is, also of what has no line of its own. */
  totals: SpendTotals;
  onFilter: (change: Pick<SpendSearch, 'agent' | 'model'>) => void;
}

export function SpendTable({ by, lines, totals, onFilter }: SpendTableProps) {
  const others = othersOf(totals, lines);
  const whole = totalsOf(lines).cost_usd + (others?.cost_usd ?? 0);
  return (
    <Table className="nums text-xs">
      <thead>
        <tr>
          <Th>{KEY_HEADS[by]}</Th>
          <Th className="w-1/4 max-md:hidden" title="Of the cost that is known">
            Share
          </Th>
          <Th className="text-right">Cost</Th>
          <Th className="text-right">Calls</Th>
          <Th className="text-right max-md:hidden">Input</Th>
          <Th className="text-right max-md:hidden">Output</Th>
          <Th className="text-right max-md:hidden">Unknown cost</Th>
        </tr>
      </thead>
      <tbody>
        {orderLines(lines, by === 'day').map((line) => (
          <tr key={line.key} data-testid="spend-row" className="hover:bg-hover">
            <Td className="max-w-56">
              <Key by={by} line={line} onFilter={onFilter} />
            </Td>
            <Td className="max-md:hidden">
              <Share share={shareOf(line, whole)} />
            </Td>
            <Td className="text-right font-medium">
              <LineCost line={line} />
            </Td>
            <Td className="text-right">{formatCount(line.call_count)}</Td>
            <Td className="text-right text-muted max-md:hidden">{formatTokens(line.input_tokens)}</Td>
            <Td className="text-right text-muted max-md:hidden">{formatTokens(line.output_tokens)}</Td>
            <Td
              className={cx(
                'text-right max-md:hidden',
                line.unpriced_call_count > 0 ? 'text-warning' : 'text-faint',
              )}
            >
              {line.unpriced_call_count > 0 ? plural(line.unpriced_call_count, 'call') : '–'}
            </Td>
          </tr>
        ))}
        {others === null ? null : (
          <tr className="text-muted">
            <Td>All others</Td>
            <Td className="max-md:hidden">
              <Share share={whole > 0 ? others.cost_usd / whole : 0} />
            </Td>
            <Td className="text-right font-medium">{formatCost(others.cost_usd)}</Td>
            <Td className="text-right">{formatCount(others.call_count)}</Td>
            <Td className="max-md:hidden" colSpan={3} />
          </tr>
        )}
      </tbody>
    </Table>
  );
}

export function LineCost({ line }: { line: SpendLine }) {
  const hasUnknown = line.unpriced_call_count > 0;
  return (
    <span className={cx('whitespace-nowrap', hasUnknown && 'text-warning')}>
      {formatPartialCost(line.cost_usd, hasUnknown)}
    </span>
  );
}

/** Of what is known; null where nothing of it is. */
const shareOf = ({ cost_usd, unpriced_call_count }: SpendLine, wholeUsd: number): number | null => {
  if (unpriced_call_count > 0 && cost_usd <= 0) return null;
  return wholeUsd > 0 ? cost_usd / wholeUsd : 0;
};

function Share({ share }: { share: number | null }) {
  if (share === null) return <span className="block text-right text-warning">unknown</span>;
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden="true" className="h-1.5 flex-1 overflow-hidden rounded-full bg-line">
        <span className="block h-full rounded-full bg-accent-solid" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="w-11 text-right text-muted">{formatShare(share)}</span>
    </span>
  );
}

function Key({
  by,
  line,
  onFilter,
}: { by: SpendTableBy; line: SpendLine } & Pick<SpendTableProps, 'onFilter'>) {
  if (by === 'day')
    return <span className="font-medium">{bucketLabel(Date.parse(line.key), { bucket: 'day' })}</span>;
  const name = line.key || 'not named';
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      {by === 'agent' ? (
        <Link
          to="/agents/$agentId"
          params={{ agentId: line.key }}
          title={name}
          className="min-w-0 font-medium hover:underline"
        >
          <CutMiddle text={name} />
        </Link>
      ) : (
        <span className="min-w-0 font-medium" title={name}>
          <CutMiddle text={name} />
        </span>
      )}
      {line.key ? (
        <button
          type="button"
          aria-label={`Only ${name}`}
          title={`Only ${name}`}
          onClick={() => onFilter(by === 'agent' ? { agent: line.key } : { model: line.key })}
          className="inline-flex size-6 shrink-0 items-center justify-center rounded text-faint hover:bg-hover hover:text-fg"
        >
          <ListFilter size={12} aria-hidden="true" />
        </button>
      ) : null}
    </span>
  );
}
