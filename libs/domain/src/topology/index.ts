/** The live map of agents and what led to what. */
export { nodeIdOf } from './node.js';
export {
  Topology,
  type TopologyCounts,
  type TopologyLimits,
  type TopologySession,
  type TopologyStep,
} from './topology.js';
