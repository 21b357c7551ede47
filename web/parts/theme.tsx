/** Dark or light: as the system has it, until it is turned by hand; then so for good in this browser. */
import { signal } from '@preact/signals';

const KEY = 'statelet.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

/** What was chosen; a browser that keeps nothing has chosen nothing. */
function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It then holds until the page is left.
  }
}

const chosen = kept();

/** Whether the page is dark now. */
export const isDark = signal(chosen === null ? system.matches : chosen === 'dark');

function show(theme: string): void {
  document.documentElement.classList.toggle('dark', theme === 'dark');
  document.documentElement.classList.toggle('light', theme === 'light');
}

if (chosen === 'dark' || chosen === 'light') show(chosen);
system.addEventListener('change', ({ matches }) => {
  if (kept() === null) isDark.value = matches;
});

/** Turns dark to light and light to dark. */
export function turnTheme(): void {
  isDark.value = !isDark.peek();
  const theme = isDark.peek() ? 'dark' : 'light';
  keep(theme);
  show(theme);
}
