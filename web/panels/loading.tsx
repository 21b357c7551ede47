/** Lines in the places of what is on its way. */
export const Loading = () => (
  <div class="sec loading" role="status" aria-label="Loading">
    <i />
    <i />
    <i />
  </div>
);
