/** Icons of buttons, as lines in a box of 16 by 16. */
const GLYPHS = {
  find: 'M11.4 7a4.4 4.4 0 1 1-8.8 0 4.4 4.4 0 1 1 8.8 0ZM10.4 10.4l3 3',
  page: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
  sun: 'M10.8 8a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 1 1 5.6 0ZM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1',
  moon: 'M8 2.2a5.8 5.8 0 1 0 5.8 5.8A4.6 4.6 0 0 1 8 2.2Z',
  keys: 'M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4M8 11.8v.01M14.3 8A6.3 6.3 0 1 1 1.7 8a6.3 6.3 0 1 1 12.6 0Z',
  earlier: 'M10 3.5 5.5 8l4.5 4.5',
  later: 'M6 3.5 10.5 8 6 12.5',
  close: 'M4 4l8 8M12 4l-8 8',
  why: 'M9.5 2.5h4v11h-4zM2.5 2.5h4v11h-4z',
  open: 'M4 3 6.5 5.5 4 8',
  minus: 'M4 8h8',
  plus: 'M4 8h8M8 4v8',
  firstBack: 'M12 3.5 6.5 8l5.5 4.5zM4 3.5v9',
  pause: 'M6 4v8M10 4v8',
  play: 'M5.5 3.5 12 8l-6.5 4.5z',
  lastOn: 'M4 3.5 9.5 8 4 12.5zM12 3.5v9',
  fit: 'M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3',
} as const;

/** An icon on a button. The button's label has the same meaning. */
export const Glyph = ({ of: name }: { readonly of: keyof typeof GLYPHS }) => (
  <svg
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.4"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={GLYPHS[name]} />
  </svg>
);
