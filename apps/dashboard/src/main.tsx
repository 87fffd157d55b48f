/** Entry point of the dashboard. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app';
import { haveLanguage } from './app/have-language';
import { followOtherTabs } from './app/one-login';
import { startFlashing } from './ui';
import './styles.css';

const root = document.getElementById('root');
if (!root) throw new Error('index.html lacks #root');

haveLanguage();
startFlashing();
followOtherTabs();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
