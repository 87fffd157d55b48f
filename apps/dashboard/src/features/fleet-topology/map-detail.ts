/** How much of the map can be read at its zoom. Drawing less from afar is what makes thousands of agents bearable. */
import { createContext } from 'react';

/** Everything; names in larger letters; colours alone. */
export type MapDetail = 'all' | 'names' | 'colours';

const NAMES_BELOW_ZOOM = 0.72;
const COLOURS_BELOW_ZOOM = 0.34;

export function detailAt(zoom: number): MapDetail {
  if (zoom < COLOURS_BELOW_ZOOM) return 'colours';
  return zoom < NAMES_BELOW_ZOOM ? 'names' : 'all';
}

export const MapDetailContext = createContext<MapDetail>('all');
