"""No framework at all: a virtual clock and scripted operators, so that everything else can be tested exactly."""
