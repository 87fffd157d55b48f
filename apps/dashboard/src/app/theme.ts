/** Light, dark or as the system says. public/theme.js applies the stored choice before the first paint. */
import { create } from 'zustand';

export const THEME_CHOICES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

const STORAGE_KEY = 'observatory.theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

function readChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    return THEME_CHOICES.find((choice) => choice === stored) ?? 'system';
  } catch {
    return 'system';
  }
}

const resolve = (choice: ThemeChoice): 'light' | 'dark' => {
  if (choice !== 'system') return choice;
  return systemDark.matches ? 'dark' : 'light';
};

interface ThemeStore {
  choice: ThemeChoice;
  /** What is on the screen now. */
  theme: 'light' | 'dark';
  setChoice: (choice: ThemeChoice) => void;
}

export const useTheme = create<ThemeStore>((set) => ({
  choice: readChoice(),
  theme: resolve(readChoice()),
  setChoice(choice) {
    try {
      localStorage.setItem(STORAGE_KEY, choice);
    } catch {
      // Storage is switched off: the choice lasts as long as the page.
    }
    set({ choice, theme: resolve(choice) });
  },
}));

const paint = () => {
  document.documentElement.dataset.theme = useTheme.getState().theme;
};
useTheme.subscribe(paint);
systemDark.addEventListener('change', () => {
  useTheme.setState(({ choice }) => ({ theme: resolve(choice) }));
});
paint();
