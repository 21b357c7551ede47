/** Placeholder for content that is being loaded. */
export const Loading = () => (
  <div class="sec loading" role="status" aria-label="Loading">
    <i />
    <i />
    <i />
  </div>
);
