/** In the place of a page that is on its way for a second: on a slow network a click would seem to have done nothing. */
export function RoutePending() {
  return (
    <p role="status" className="grid h-full place-items-center text-muted">
      Loading
    </p>
  );
}
