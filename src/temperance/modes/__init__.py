"""What a mode is: learnt from states, drawn from by jumps, matched across chains, and told apart by draws."""
