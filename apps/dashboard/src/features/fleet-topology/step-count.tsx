/** How many steps an agent sent; of one from before the gateway's start, whose are not counted, why there is no number. */
import { NoneYet } from '../../app/begun-anew';
import { formatCount } from '../../ui';
import { type FleetNode, isFromBefore } from './fleet-nodes';

export const StepCount = ({ node }: { node: FleetNode }) =>
  isFromBefore(node) ? <NoneYet of="Steps" /> : formatCount(node.step_count);
