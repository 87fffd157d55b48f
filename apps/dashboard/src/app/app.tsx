/** Providers around the router. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { queryClient } from '../api';
import { ToastRegion, TooltipProvider } from '../ui';
import { router } from './router';
import './theme';

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider delay={300}>
        <RouterProvider router={router} />
        <ToastRegion />
      </TooltipProvider>
    </QueryClientProvider>
  );
}
