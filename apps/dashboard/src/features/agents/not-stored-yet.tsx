/** Behind who stopped an agent, or all of them: that this is in force, and nothing a restart knows of. Draws nothing once it is stored. */
export function NotStoredYet({ isStored }: { isStored: boolean }) {
  return isStored ? null : (
    <>
      {' · '}
      <span className="font-medium text-warning">Not stored yet: a restart would forget it</span>
    </>
  );
}
