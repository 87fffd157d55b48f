/** Where the calls of one agent or session would be. */
import { Waypoints } from 'lucide-react';
import { EmptyState } from '../../ui';

export function NoCalls({ children }: { children: string }) {
  return (
    <EmptyState icon={<Waypoints size={24} aria-hidden="true" />} title="No calls through the proxy">
      {children}
    </EmptyState>
  );
}
