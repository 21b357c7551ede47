/** The dark or light theme. It follows the system until the user chooses one, which the browser then remembers. */
import { signal } from '@preact/signals';

const KEY = 'statelet.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

/** Returns the theme chosen by the user. Null if there is none or the browser has no storage. */
function storedTheme(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function storeTheme(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Ignore the error, because the choice then still lasts until the page is closed.
  }
}

const chosenTheme = storedTheme();

/** Whether the dark theme is active. */
export const isDark = signal(chosenTheme === null ? system.matches : chosenTheme === 'dark');

function applyTheme(theme: string): void {
  document.documentElement.classList.toggle('dark', theme === 'dark');
  document.documentElement.classList.toggle('light', theme === 'light');
}

if (chosenTheme === 'dark' || chosenTheme === 'light') applyTheme(chosenTheme);
system.addEventListener('change', ({ matches }) => {
  if (storedTheme() === null) isDark.value = matches;
});

/** Toggles between the dark and the light theme. */
export function toggleTheme(): void {
  isDark.value = !isDark.peek();
  const theme = isDark.peek() ? 'dark' : 'light';
  storeTheme(theme);
  applyTheme(theme);
}
