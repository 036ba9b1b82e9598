import { render } from 'preact';
import { App } from './app.js';
import './style/base.css';
import './style/page.css';
import './style/table.css';
import './style/views.css';

const place = document.getElementById('app');
if (place) render(<App />, place);
