import { defineConfig } from '../../src/index.js';

export default defineConfig({ store: 'sqlite:pawl.db', tasks: ['tasks/**/*.ts'] });
