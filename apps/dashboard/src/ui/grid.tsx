/**
 * A grid of rows that are positioned one by one, for virtualised lists: a table element cannot hold those, so the parts
 * carry the roles. Focus is roving over the rows (one of them has tabIndex 0); cells are not focused.
 */
import type { ComponentProps } from 'react';

const part = (role: string) =>
  function GridPart(props: ComponentProps<'div'>) {
    return <div {...props} role={role} />;
  };

export const Grid = part('grid');
export const GridRowGroup = part('rowgroup');
export const GridRow = part('row');
export const GridCell = part('gridcell');
export const GridColumnHeader = part('columnheader');
