/** A sum of money that may leave something out, in a column: what is unknown stands below what is known. */
import { formatCost, formatPartialCost } from './format';

interface PartialCostProps {
  usd: number;
  hasUnknown: boolean;
}

export function PartialCost({ usd, hasUnknown }: PartialCostProps) {
  if (!hasUnknown || usd <= 0) return <>{formatPartialCost(usd, hasUnknown)}</>;
  return (
    <>
      {formatCost(usd)}
      <span className="block text-2xs leading-3">+ unknown</span>
    </>
  );
}
