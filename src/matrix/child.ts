/** What the matrix starts, freezes and kills: a program of its own, which loads no more than a worker needs. */
import { obeyOrders } from './child-program.js';

await obeyOrders();
