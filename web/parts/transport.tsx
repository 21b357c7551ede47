/** The signs on the buttons that go through time, as lines in a box of 16 by 16. */
const SIGNS = {
  firstBack: 'M12 3.5 6.5 8l5.5 4.5zM4 3.5v9',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  pause: 'M6 4v8M10 4v8',
  play: 'M5.5 3.5 12 8l-6.5 4.5z',
  on: 'M6 3.5 10.5 8 6 12.5',
  lastOn: 'M4 3.5 9.5 8 4 12.5zM12 3.5v9',
} as const;

/** One of them; the button's label says the same. */
export const Transport = ({ of }: { readonly of: keyof typeof SIGNS }) => (
  <svg
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.4"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={SIGNS[of]} />
  </svg>
);
