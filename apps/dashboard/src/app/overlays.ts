/** Which of the shell's own overlays is open. */
import { create } from 'zustand';

type Overlay = 'palette' | 'help';

interface OverlayStore {
  shown: Overlay | null;
  open: (overlay: Overlay) => void;
  close: () => void;
}

export const useOverlay = create<OverlayStore>((set) => ({
  shown: null,
  open: (shown) => set({ shown }),
  close: () => set({ shown: null }),
}));
