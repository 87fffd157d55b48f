/** The heading of one cluster in the grouped list. */
import { Badge, GridCell, GridRow, plural } from '../../ui';
import type { ListRow } from './list-rows';

interface ClusterHeadingProps {
  row: Extract<ListRow, { kind: 'cluster' }>;
  isPhone: boolean;
}

export function ClusterHeading({ row, isPhone }: ClusterHeadingProps) {
  const content = (
    <>
      <span className="font-medium">{row.clusterId || 'No cluster'}</span>
      <span className="text-muted text-xs">{plural(row.sessionCount, 'session')}</span>
      {row.loopCount > 0 ? <Badge tone="danger">{row.loopCount} looping now</Badge> : null}
    </>
  );
  const className = 'flex h-[34px] items-center gap-2 border-line border-b bg-sunken px-3';
  if (isPhone) return <h3 className={className}>{content}</h3>;
  return (
    <GridRow className={className}>
      <GridCell className="flex items-center gap-2">{content}</GridCell>
    </GridRow>
  );
}
